import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from kernelvault.v1 import access_pb2 as _access_pb2
from kernelvault.v1 import artifact_pb2 as _artifact_pb2
from kernelvault.v1 import kernel_pb2 as _kernel_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ProfileCandidateRequest(_message.Message):
    __slots__ = ("verify_action_digest", "device", "method", "max_age")
    class Method(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        METHOD_UNSPECIFIED: _ClassVar[ProfileCandidateRequest.Method]
        MODEL: _ClassVar[ProfileCandidateRequest.Method]
        TIMING: _ClassVar[ProfileCandidateRequest.Method]
    METHOD_UNSPECIFIED: ProfileCandidateRequest.Method
    MODEL: ProfileCandidateRequest.Method
    TIMING: ProfileCandidateRequest.Method
    VERIFY_ACTION_DIGEST_FIELD_NUMBER: _ClassVar[int]
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    MAX_AGE_FIELD_NUMBER: _ClassVar[int]
    verify_action_digest: _artifact_pb2.Digest
    device: str
    method: ProfileCandidateRequest.Method
    max_age: _duration_pb2.Duration
    def __init__(self, verify_action_digest: _Optional[_Union[_artifact_pb2.Digest, _Mapping]] = ..., device: _Optional[str] = ..., method: _Optional[_Union[ProfileCandidateRequest.Method, str]] = ..., max_age: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class ProfileCandidateResponse(_message.Message):
    __slots__ = ("stage", "profile")
    class Stage(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        STAGE_UNSPECIFIED: _ClassVar[ProfileCandidateResponse.Stage]
        QUEUED: _ClassVar[ProfileCandidateResponse.Stage]
        PREPARING: _ClassVar[ProfileCandidateResponse.Stage]
        MEASURING: _ClassVar[ProfileCandidateResponse.Stage]
    STAGE_UNSPECIFIED: ProfileCandidateResponse.Stage
    QUEUED: ProfileCandidateResponse.Stage
    PREPARING: ProfileCandidateResponse.Stage
    MEASURING: ProfileCandidateResponse.Stage
    STAGE_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    stage: ProfileCandidateResponse.Stage
    profile: Profile
    def __init__(self, stage: _Optional[_Union[ProfileCandidateResponse.Stage, str]] = ..., profile: _Optional[_Union[Profile, _Mapping]] = ...) -> None: ...

class Profile(_message.Message):
    __slots__ = ("verify_action_digest", "device", "method_label", "cases", "time_ns", "roofline_fraction", "advice", "execution_metadata", "sources")
    class CaseEstimate(_message.Message):
        __slots__ = ("case_id", "time_ns", "floor_ns", "kernels")
        CASE_ID_FIELD_NUMBER: _ClassVar[int]
        TIME_NS_FIELD_NUMBER: _ClassVar[int]
        FLOOR_NS_FIELD_NUMBER: _ClassVar[int]
        KERNELS_FIELD_NUMBER: _ClassVar[int]
        case_id: str
        time_ns: float
        floor_ns: float
        kernels: _containers.RepeatedCompositeFieldContainer[Profile.KernelEstimate]
        def __init__(self, case_id: _Optional[str] = ..., time_ns: _Optional[float] = ..., floor_ns: _Optional[float] = ..., kernels: _Optional[_Iterable[_Union[Profile.KernelEstimate, _Mapping]]] = ...) -> None: ...
    class KernelEstimate(_message.Message):
        __slots__ = ("name", "time_ns", "bound", "counters", "occupancy_waves", "occupancy_limit")
        NAME_FIELD_NUMBER: _ClassVar[int]
        TIME_NS_FIELD_NUMBER: _ClassVar[int]
        BOUND_FIELD_NUMBER: _ClassVar[int]
        COUNTERS_FIELD_NUMBER: _ClassVar[int]
        OCCUPANCY_WAVES_FIELD_NUMBER: _ClassVar[int]
        OCCUPANCY_LIMIT_FIELD_NUMBER: _ClassVar[int]
        name: str
        time_ns: float
        bound: str
        counters: Profile.Counters
        occupancy_waves: float
        occupancy_limit: str
        def __init__(self, name: _Optional[str] = ..., time_ns: _Optional[float] = ..., bound: _Optional[str] = ..., counters: _Optional[_Union[Profile.Counters, _Mapping]] = ..., occupancy_waves: _Optional[float] = ..., occupancy_limit: _Optional[str] = ...) -> None: ...
    class Counters(_message.Message):
        __slots__ = ("global_read_bytes", "global_write_bytes", "global_transaction_bytes", "coalescing", "lds_read_bytes", "lds_write_bytes", "lds_conflict_ratio", "atomics", "barriers", "matrix_flops", "blocks", "sampled_blocks", "unique_bytes", "vector_flops", "half_flops", "double_flops", "special_operations", "active_lanes", "global_line_bytes", "lds_atomics", "atomic_repeats", "hottest_atomic", "lds_atomic_repeats", "most_lanes_on_a_word", "most_lanes_on_a_word_of_lds", "hottest_lds_atomic", "packed_flops", "integer_operations", "matrix_flops_by_type")
        class MatrixFlopsByTypeEntry(_message.Message):
            __slots__ = ("key", "value")
            KEY_FIELD_NUMBER: _ClassVar[int]
            VALUE_FIELD_NUMBER: _ClassVar[int]
            key: str
            value: int
            def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
        GLOBAL_READ_BYTES_FIELD_NUMBER: _ClassVar[int]
        GLOBAL_WRITE_BYTES_FIELD_NUMBER: _ClassVar[int]
        GLOBAL_TRANSACTION_BYTES_FIELD_NUMBER: _ClassVar[int]
        COALESCING_FIELD_NUMBER: _ClassVar[int]
        LDS_READ_BYTES_FIELD_NUMBER: _ClassVar[int]
        LDS_WRITE_BYTES_FIELD_NUMBER: _ClassVar[int]
        LDS_CONFLICT_RATIO_FIELD_NUMBER: _ClassVar[int]
        ATOMICS_FIELD_NUMBER: _ClassVar[int]
        BARRIERS_FIELD_NUMBER: _ClassVar[int]
        MATRIX_FLOPS_FIELD_NUMBER: _ClassVar[int]
        BLOCKS_FIELD_NUMBER: _ClassVar[int]
        SAMPLED_BLOCKS_FIELD_NUMBER: _ClassVar[int]
        UNIQUE_BYTES_FIELD_NUMBER: _ClassVar[int]
        VECTOR_FLOPS_FIELD_NUMBER: _ClassVar[int]
        HALF_FLOPS_FIELD_NUMBER: _ClassVar[int]
        DOUBLE_FLOPS_FIELD_NUMBER: _ClassVar[int]
        SPECIAL_OPERATIONS_FIELD_NUMBER: _ClassVar[int]
        ACTIVE_LANES_FIELD_NUMBER: _ClassVar[int]
        GLOBAL_LINE_BYTES_FIELD_NUMBER: _ClassVar[int]
        LDS_ATOMICS_FIELD_NUMBER: _ClassVar[int]
        ATOMIC_REPEATS_FIELD_NUMBER: _ClassVar[int]
        HOTTEST_ATOMIC_FIELD_NUMBER: _ClassVar[int]
        LDS_ATOMIC_REPEATS_FIELD_NUMBER: _ClassVar[int]
        MOST_LANES_ON_A_WORD_FIELD_NUMBER: _ClassVar[int]
        MOST_LANES_ON_A_WORD_OF_LDS_FIELD_NUMBER: _ClassVar[int]
        HOTTEST_LDS_ATOMIC_FIELD_NUMBER: _ClassVar[int]
        PACKED_FLOPS_FIELD_NUMBER: _ClassVar[int]
        INTEGER_OPERATIONS_FIELD_NUMBER: _ClassVar[int]
        MATRIX_FLOPS_BY_TYPE_FIELD_NUMBER: _ClassVar[int]
        global_read_bytes: int
        global_write_bytes: int
        global_transaction_bytes: int
        coalescing: float
        lds_read_bytes: int
        lds_write_bytes: int
        lds_conflict_ratio: float
        atomics: int
        barriers: int
        matrix_flops: int
        blocks: int
        sampled_blocks: int
        unique_bytes: int
        vector_flops: int
        half_flops: int
        double_flops: int
        special_operations: int
        active_lanes: float
        global_line_bytes: int
        lds_atomics: int
        atomic_repeats: int
        hottest_atomic: int
        lds_atomic_repeats: int
        most_lanes_on_a_word: int
        most_lanes_on_a_word_of_lds: int
        hottest_lds_atomic: int
        packed_flops: int
        integer_operations: int
        matrix_flops_by_type: _containers.ScalarMap[str, int]
        def __init__(self, global_read_bytes: _Optional[int] = ..., global_write_bytes: _Optional[int] = ..., global_transaction_bytes: _Optional[int] = ..., coalescing: _Optional[float] = ..., lds_read_bytes: _Optional[int] = ..., lds_write_bytes: _Optional[int] = ..., lds_conflict_ratio: _Optional[float] = ..., atomics: _Optional[int] = ..., barriers: _Optional[int] = ..., matrix_flops: _Optional[int] = ..., blocks: _Optional[int] = ..., sampled_blocks: _Optional[int] = ..., unique_bytes: _Optional[int] = ..., vector_flops: _Optional[int] = ..., half_flops: _Optional[int] = ..., double_flops: _Optional[int] = ..., special_operations: _Optional[int] = ..., active_lanes: _Optional[float] = ..., global_line_bytes: _Optional[int] = ..., lds_atomics: _Optional[int] = ..., atomic_repeats: _Optional[int] = ..., hottest_atomic: _Optional[int] = ..., lds_atomic_repeats: _Optional[int] = ..., most_lanes_on_a_word: _Optional[int] = ..., most_lanes_on_a_word_of_lds: _Optional[int] = ..., hottest_lds_atomic: _Optional[int] = ..., packed_flops: _Optional[int] = ..., integer_operations: _Optional[int] = ..., matrix_flops_by_type: _Optional[_Mapping[str, int]] = ...) -> None: ...
    VERIFY_ACTION_DIGEST_FIELD_NUMBER: _ClassVar[int]
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    METHOD_LABEL_FIELD_NUMBER: _ClassVar[int]
    CASES_FIELD_NUMBER: _ClassVar[int]
    TIME_NS_FIELD_NUMBER: _ClassVar[int]
    ROOFLINE_FRACTION_FIELD_NUMBER: _ClassVar[int]
    ADVICE_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_METADATA_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    verify_action_digest: _artifact_pb2.Digest
    device: str
    method_label: str
    cases: _containers.RepeatedCompositeFieldContainer[Profile.CaseEstimate]
    time_ns: float
    roofline_fraction: float
    advice: str
    execution_metadata: _kernel_pb2.ExecutionMetadata
    sources: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, verify_action_digest: _Optional[_Union[_artifact_pb2.Digest, _Mapping]] = ..., device: _Optional[str] = ..., method_label: _Optional[str] = ..., cases: _Optional[_Iterable[_Union[Profile.CaseEstimate, _Mapping]]] = ..., time_ns: _Optional[float] = ..., roofline_fraction: _Optional[float] = ..., advice: _Optional[str] = ..., execution_metadata: _Optional[_Union[_kernel_pb2.ExecutionMetadata, _Mapping]] = ..., sources: _Optional[_Iterable[str]] = ...) -> None: ...
