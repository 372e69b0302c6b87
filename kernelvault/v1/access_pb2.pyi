from google.protobuf import descriptor_pb2 as _descriptor_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor
ACCESS_FIELD_NUMBER: _ClassVar[int]
access: _descriptor.FieldDescriptor

class Access(_message.Message):
    __slots__ = ("roles",)
    class Role(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        ROLE_UNSPECIFIED: _ClassVar[Access.Role]
        READ: _ClassVar[Access.Role]
        SUBMIT: _ClassVar[Access.Role]
        TRAIN: _ClassVar[Access.Role]
        SERVICE: _ClassVar[Access.Role]
        ADMIN: _ClassVar[Access.Role]
    ROLE_UNSPECIFIED: Access.Role
    READ: Access.Role
    SUBMIT: Access.Role
    TRAIN: Access.Role
    SERVICE: Access.Role
    ADMIN: Access.Role
    ROLES_FIELD_NUMBER: _ClassVar[int]
    roles: _containers.RepeatedScalarFieldContainer[Access.Role]
    def __init__(self, roles: _Optional[_Iterable[_Union[Access.Role, str]]] = ...) -> None: ...
