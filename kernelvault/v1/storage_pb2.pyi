import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from kernelvault.v1 import access_pb2 as _access_pb2
from kernelvault.v1 import artifact_pb2 as _artifact_pb2
from kernelvault.v1 import compiler_pb2 as _compiler_pb2
from kernelvault.v1 import profiler_pb2 as _profiler_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class FindMissingBlobsRequest(_message.Message):
    __slots__ = ("digests",)
    DIGESTS_FIELD_NUMBER: _ClassVar[int]
    digests: _containers.RepeatedCompositeFieldContainer[_artifact_pb2.Digest]
    def __init__(self, digests: _Optional[_Iterable[_Union[_artifact_pb2.Digest, _Mapping]]] = ...) -> None: ...

class FindMissingBlobsResponse(_message.Message):
    __slots__ = ("missing_digests",)
    MISSING_DIGESTS_FIELD_NUMBER: _ClassVar[int]
    missing_digests: _containers.RepeatedCompositeFieldContainer[_artifact_pb2.Digest]
    def __init__(self, missing_digests: _Optional[_Iterable[_Union[_artifact_pb2.Digest, _Mapping]]] = ...) -> None: ...

class ReadBlobRequest(_message.Message):
    __slots__ = ("digest", "offset")
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    digest: _artifact_pb2.Digest
    offset: int
    def __init__(self, digest: _Optional[_Union[_artifact_pb2.Digest, _Mapping]] = ..., offset: _Optional[int] = ...) -> None: ...

class ReadBlobResponse(_message.Message):
    __slots__ = ("data",)
    DATA_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    def __init__(self, data: _Optional[bytes] = ...) -> None: ...

class WriteBlobRequest(_message.Message):
    __slots__ = ("digest", "data")
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    digest: _artifact_pb2.Digest
    data: bytes
    def __init__(self, digest: _Optional[_Union[_artifact_pb2.Digest, _Mapping]] = ..., data: _Optional[bytes] = ...) -> None: ...

class WriteBlobResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ActionResult(_message.Message):
    __slots__ = ("action_digest", "report", "profile", "script_report", "create_time")
    ACTION_DIGEST_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    SCRIPT_REPORT_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    action_digest: _artifact_pb2.Digest
    report: _compiler_pb2.VerificationReport
    profile: _profiler_pb2.Profile
    script_report: _compiler_pb2.ScriptReport
    create_time: _timestamp_pb2.Timestamp
    def __init__(self, action_digest: _Optional[_Union[_artifact_pb2.Digest, _Mapping]] = ..., report: _Optional[_Union[_compiler_pb2.VerificationReport, _Mapping]] = ..., profile: _Optional[_Union[_profiler_pb2.Profile, _Mapping]] = ..., script_report: _Optional[_Union[_compiler_pb2.ScriptReport, _Mapping]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class GetActionResultRequest(_message.Message):
    __slots__ = ("action_digest", "max_age")
    ACTION_DIGEST_FIELD_NUMBER: _ClassVar[int]
    MAX_AGE_FIELD_NUMBER: _ClassVar[int]
    action_digest: _artifact_pb2.Digest
    max_age: _duration_pb2.Duration
    def __init__(self, action_digest: _Optional[_Union[_artifact_pb2.Digest, _Mapping]] = ..., max_age: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class UpdateActionResultRequest(_message.Message):
    __slots__ = ("action_result",)
    ACTION_RESULT_FIELD_NUMBER: _ClassVar[int]
    action_result: ActionResult
    def __init__(self, action_result: _Optional[_Union[ActionResult, _Mapping]] = ...) -> None: ...
