from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TritonProgram(_message.Message):
    __slots__ = ("functions", "variants")
    class Function(_message.Message):
        __slots__ = ("name", "file", "line", "source", "globals", "noinline")
        class GlobalsEntry(_message.Message):
            __slots__ = ("key", "value")
            KEY_FIELD_NUMBER: _ClassVar[int]
            VALUE_FIELD_NUMBER: _ClassVar[int]
            key: str
            value: TritonProgram.Value
            def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[TritonProgram.Value, _Mapping]] = ...) -> None: ...
        NAME_FIELD_NUMBER: _ClassVar[int]
        FILE_FIELD_NUMBER: _ClassVar[int]
        LINE_FIELD_NUMBER: _ClassVar[int]
        SOURCE_FIELD_NUMBER: _ClassVar[int]
        GLOBALS_FIELD_NUMBER: _ClassVar[int]
        NOINLINE_FIELD_NUMBER: _ClassVar[int]
        name: str
        file: str
        line: int
        source: str
        globals: _containers.MessageMap[str, TritonProgram.Value]
        noinline: bool
        def __init__(self, name: _Optional[str] = ..., file: _Optional[str] = ..., line: _Optional[int] = ..., source: _Optional[str] = ..., globals: _Optional[_Mapping[str, TritonProgram.Value]] = ..., noinline: _Optional[bool] = ...) -> None: ...
    class Variant(_message.Message):
        __slots__ = ("name", "function", "parameters", "options")
        class OptionsEntry(_message.Message):
            __slots__ = ("key", "value")
            KEY_FIELD_NUMBER: _ClassVar[int]
            VALUE_FIELD_NUMBER: _ClassVar[int]
            key: str
            value: TritonProgram.Value
            def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[TritonProgram.Value, _Mapping]] = ...) -> None: ...
        NAME_FIELD_NUMBER: _ClassVar[int]
        FUNCTION_FIELD_NUMBER: _ClassVar[int]
        PARAMETERS_FIELD_NUMBER: _ClassVar[int]
        OPTIONS_FIELD_NUMBER: _ClassVar[int]
        name: str
        function: int
        parameters: _containers.RepeatedCompositeFieldContainer[TritonProgram.Parameter]
        options: _containers.MessageMap[str, TritonProgram.Value]
        def __init__(self, name: _Optional[str] = ..., function: _Optional[int] = ..., parameters: _Optional[_Iterable[_Union[TritonProgram.Parameter, _Mapping]]] = ..., options: _Optional[_Mapping[str, TritonProgram.Value]] = ...) -> None: ...
    class Parameter(_message.Message):
        __slots__ = ("name", "type", "constant", "attributes")
        NAME_FIELD_NUMBER: _ClassVar[int]
        TYPE_FIELD_NUMBER: _ClassVar[int]
        CONSTANT_FIELD_NUMBER: _ClassVar[int]
        ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
        name: str
        type: str
        constant: TritonProgram.Value
        attributes: _containers.RepeatedCompositeFieldContainer[TritonProgram.Attribute]
        def __init__(self, name: _Optional[str] = ..., type: _Optional[str] = ..., constant: _Optional[_Union[TritonProgram.Value, _Mapping]] = ..., attributes: _Optional[_Iterable[_Union[TritonProgram.Attribute, _Mapping]]] = ...) -> None: ...
    class Attribute(_message.Message):
        __slots__ = ("name", "value")
        NAME_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        name: str
        value: int
        def __init__(self, name: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    class Value(_message.Message):
        __slots__ = ("integer", "number", "boolean", "text", "dtype", "function", "imported", "tuple", "none", "constexpr")
        INTEGER_FIELD_NUMBER: _ClassVar[int]
        NUMBER_FIELD_NUMBER: _ClassVar[int]
        BOOLEAN_FIELD_NUMBER: _ClassVar[int]
        TEXT_FIELD_NUMBER: _ClassVar[int]
        DTYPE_FIELD_NUMBER: _ClassVar[int]
        FUNCTION_FIELD_NUMBER: _ClassVar[int]
        IMPORTED_FIELD_NUMBER: _ClassVar[int]
        TUPLE_FIELD_NUMBER: _ClassVar[int]
        NONE_FIELD_NUMBER: _ClassVar[int]
        CONSTEXPR_FIELD_NUMBER: _ClassVar[int]
        integer: int
        number: float
        boolean: bool
        text: str
        dtype: str
        function: int
        imported: str
        tuple: TritonProgram.Tuple
        none: bool
        constexpr: bool
        def __init__(self, integer: _Optional[int] = ..., number: _Optional[float] = ..., boolean: _Optional[bool] = ..., text: _Optional[str] = ..., dtype: _Optional[str] = ..., function: _Optional[int] = ..., imported: _Optional[str] = ..., tuple: _Optional[_Union[TritonProgram.Tuple, _Mapping]] = ..., none: _Optional[bool] = ..., constexpr: _Optional[bool] = ...) -> None: ...
    class Tuple(_message.Message):
        __slots__ = ("values",)
        VALUES_FIELD_NUMBER: _ClassVar[int]
        values: _containers.RepeatedCompositeFieldContainer[TritonProgram.Value]
        def __init__(self, values: _Optional[_Iterable[_Union[TritonProgram.Value, _Mapping]]] = ...) -> None: ...
    FUNCTIONS_FIELD_NUMBER: _ClassVar[int]
    VARIANTS_FIELD_NUMBER: _ClassVar[int]
    functions: _containers.RepeatedCompositeFieldContainer[TritonProgram.Function]
    variants: _containers.RepeatedCompositeFieldContainer[TritonProgram.Variant]
    def __init__(self, functions: _Optional[_Iterable[_Union[TritonProgram.Function, _Mapping]]] = ..., variants: _Optional[_Iterable[_Union[TritonProgram.Variant, _Mapping]]] = ...) -> None: ...
