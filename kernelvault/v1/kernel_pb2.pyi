import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from kernelvault.v1 import artifact_pb2 as _artifact_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Task(_message.Message):
    __slots__ = ("name", "title", "instructions", "reference", "functional", "cases", "tolerance", "family", "level", "provenance", "allowed_operators", "create_time")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    INSTRUCTIONS_FIELD_NUMBER: _ClassVar[int]
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    FUNCTIONAL_FIELD_NUMBER: _ClassVar[int]
    CASES_FIELD_NUMBER: _ClassVar[int]
    TOLERANCE_FIELD_NUMBER: _ClassVar[int]
    FAMILY_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    PROVENANCE_FIELD_NUMBER: _ClassVar[int]
    ALLOWED_OPERATORS_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    name: str
    title: str
    instructions: str
    reference: _artifact_pb2.Artifact
    functional: _artifact_pb2.Artifact
    cases: _containers.RepeatedCompositeFieldContainer[Case]
    tolerance: Tolerance
    family: str
    level: int
    provenance: Provenance
    allowed_operators: _containers.RepeatedScalarFieldContainer[str]
    create_time: _timestamp_pb2.Timestamp
    def __init__(self, name: _Optional[str] = ..., title: _Optional[str] = ..., instructions: _Optional[str] = ..., reference: _Optional[_Union[_artifact_pb2.Artifact, _Mapping]] = ..., functional: _Optional[_Union[_artifact_pb2.Artifact, _Mapping]] = ..., cases: _Optional[_Iterable[_Union[Case, _Mapping]]] = ..., tolerance: _Optional[_Union[Tolerance, _Mapping]] = ..., family: _Optional[str] = ..., level: _Optional[int] = ..., provenance: _Optional[_Union[Provenance, _Mapping]] = ..., allowed_operators: _Optional[_Iterable[str]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class Provenance(_message.Message):
    __slots__ = ("source", "license")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    LICENSE_FIELD_NUMBER: _ClassVar[int]
    source: str
    license: str
    def __init__(self, source: _Optional[str] = ..., license: _Optional[str] = ...) -> None: ...

class Tolerance(_message.Message):
    __slots__ = ("absolute", "relative")
    ABSOLUTE_FIELD_NUMBER: _ClassVar[int]
    RELATIVE_FIELD_NUMBER: _ClassVar[int]
    absolute: float
    relative: float
    def __init__(self, absolute: _Optional[float] = ..., relative: _Optional[float] = ...) -> None: ...

class Case(_message.Message):
    __slots__ = ("id", "kind", "hidden", "distribution", "strided", "arguments_json", "shrunk", "parameters", "outputs", "returns_sequence")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        KIND_UNSPECIFIED: _ClassVar[Case.Kind]
        CORRECTNESS: _ClassVar[Case.Kind]
        PERFORMANCE: _ClassVar[Case.Kind]
    KIND_UNSPECIFIED: Case.Kind
    CORRECTNESS: Case.Kind
    PERFORMANCE: Case.Kind
    class Distribution(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DISTRIBUTION_UNSPECIFIED: _ClassVar[Case.Distribution]
        GIVEN: _ClassVar[Case.Distribution]
        NORMAL: _ClassVar[Case.Distribution]
        UNIFORM: _ClassVar[Case.Distribution]
        LARGE: _ClassVar[Case.Distribution]
        TINY: _ClassVar[Case.Distribution]
        ZEROS: _ClassVar[Case.Distribution]
        NEGATIVE: _ClassVar[Case.Distribution]
    DISTRIBUTION_UNSPECIFIED: Case.Distribution
    GIVEN: Case.Distribution
    NORMAL: Case.Distribution
    UNIFORM: Case.Distribution
    LARGE: Case.Distribution
    TINY: Case.Distribution
    ZEROS: Case.Distribution
    NEGATIVE: Case.Distribution
    class ShrunkEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    HIDDEN_FIELD_NUMBER: _ClassVar[int]
    DISTRIBUTION_FIELD_NUMBER: _ClassVar[int]
    STRIDED_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_JSON_FIELD_NUMBER: _ClassVar[int]
    SHRUNK_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    RETURNS_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    id: str
    kind: Case.Kind
    hidden: bool
    distribution: Case.Distribution
    strided: bool
    arguments_json: str
    shrunk: _containers.ScalarMap[str, int]
    parameters: _containers.RepeatedCompositeFieldContainer[Parameter]
    outputs: _containers.RepeatedCompositeFieldContainer[Parameter]
    returns_sequence: bool
    def __init__(self, id: _Optional[str] = ..., kind: _Optional[_Union[Case.Kind, str]] = ..., hidden: _Optional[bool] = ..., distribution: _Optional[_Union[Case.Distribution, str]] = ..., strided: _Optional[bool] = ..., arguments_json: _Optional[str] = ..., shrunk: _Optional[_Mapping[str, int]] = ..., parameters: _Optional[_Iterable[_Union[Parameter, _Mapping]]] = ..., outputs: _Optional[_Iterable[_Union[Parameter, _Mapping]]] = ..., returns_sequence: _Optional[bool] = ...) -> None: ...

class Parameter(_message.Message):
    __slots__ = ("name", "tensor", "float_value", "int_value", "bool_value", "of_model")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TENSOR_FIELD_NUMBER: _ClassVar[int]
    FLOAT_VALUE_FIELD_NUMBER: _ClassVar[int]
    INT_VALUE_FIELD_NUMBER: _ClassVar[int]
    BOOL_VALUE_FIELD_NUMBER: _ClassVar[int]
    OF_MODEL_FIELD_NUMBER: _ClassVar[int]
    name: str
    tensor: TensorView
    float_value: float
    int_value: int
    bool_value: bool
    of_model: bool
    def __init__(self, name: _Optional[str] = ..., tensor: _Optional[_Union[TensorView, _Mapping]] = ..., float_value: _Optional[float] = ..., int_value: _Optional[int] = ..., bool_value: _Optional[bool] = ..., of_model: _Optional[bool] = ...) -> None: ...

class TensorView(_message.Message):
    __slots__ = ("dtype", "dims", "strides", "offset_elements")
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    DIMS_FIELD_NUMBER: _ClassVar[int]
    STRIDES_FIELD_NUMBER: _ClassVar[int]
    OFFSET_ELEMENTS_FIELD_NUMBER: _ClassVar[int]
    dtype: str
    dims: _containers.RepeatedScalarFieldContainer[int]
    strides: _containers.RepeatedScalarFieldContainer[int]
    offset_elements: int
    def __init__(self, dtype: _Optional[str] = ..., dims: _Optional[_Iterable[int]] = ..., strides: _Optional[_Iterable[int]] = ..., offset_elements: _Optional[int] = ...) -> None: ...

class Candidate(_message.Message):
    __slots__ = ("name", "language", "format", "sources", "entry_point", "generation")
    class Language(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        LANGUAGE_UNSPECIFIED: _ClassVar[Candidate.Language]
        HIP: _ClassVar[Candidate.Language]
        TRITON: _ClassVar[Candidate.Language]
    LANGUAGE_UNSPECIFIED: Candidate.Language
    HIP: Candidate.Language
    TRITON: Candidate.Language
    class Format(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        FORMAT_UNSPECIFIED: _ClassVar[Candidate.Format]
        HIP_ABI: _ClassVar[Candidate.Format]
        HIP_TORCH: _ClassVar[Candidate.Format]
        TRITON_MODULE: _ClassVar[Candidate.Format]
        HIP_MODULE: _ClassVar[Candidate.Format]
    FORMAT_UNSPECIFIED: Candidate.Format
    HIP_ABI: Candidate.Format
    HIP_TORCH: Candidate.Format
    TRITON_MODULE: Candidate.Format
    HIP_MODULE: Candidate.Format
    class Generation(_message.Message):
        __slots__ = ("model", "prompt_digest", "completion_digest", "seed", "sample_index", "prompt_tokens", "completion_tokens", "rationale")
        MODEL_FIELD_NUMBER: _ClassVar[int]
        PROMPT_DIGEST_FIELD_NUMBER: _ClassVar[int]
        COMPLETION_DIGEST_FIELD_NUMBER: _ClassVar[int]
        SEED_FIELD_NUMBER: _ClassVar[int]
        SAMPLE_INDEX_FIELD_NUMBER: _ClassVar[int]
        PROMPT_TOKENS_FIELD_NUMBER: _ClassVar[int]
        COMPLETION_TOKENS_FIELD_NUMBER: _ClassVar[int]
        RATIONALE_FIELD_NUMBER: _ClassVar[int]
        model: str
        prompt_digest: _artifact_pb2.Digest
        completion_digest: _artifact_pb2.Digest
        seed: int
        sample_index: int
        prompt_tokens: int
        completion_tokens: int
        rationale: str
        def __init__(self, model: _Optional[str] = ..., prompt_digest: _Optional[_Union[_artifact_pb2.Digest, _Mapping]] = ..., completion_digest: _Optional[_Union[_artifact_pb2.Digest, _Mapping]] = ..., seed: _Optional[int] = ..., sample_index: _Optional[int] = ..., prompt_tokens: _Optional[int] = ..., completion_tokens: _Optional[int] = ..., rationale: _Optional[str] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    ENTRY_POINT_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    name: str
    language: Candidate.Language
    format: Candidate.Format
    sources: _containers.RepeatedCompositeFieldContainer[_artifact_pb2.Artifact]
    entry_point: str
    generation: Candidate.Generation
    def __init__(self, name: _Optional[str] = ..., language: _Optional[_Union[Candidate.Language, str]] = ..., format: _Optional[_Union[Candidate.Format, str]] = ..., sources: _Optional[_Iterable[_Union[_artifact_pb2.Artifact, _Mapping]]] = ..., entry_point: _Optional[str] = ..., generation: _Optional[_Union[Candidate.Generation, _Mapping]] = ...) -> None: ...

class SeedKernel(_message.Message):
    __slots__ = ("dialect", "sources", "provenance")
    class Dialect(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DIALECT_UNSPECIFIED: _ClassVar[SeedKernel.Dialect]
        CUDA: _ClassVar[SeedKernel.Dialect]
        HIP: _ClassVar[SeedKernel.Dialect]
        TRITON: _ClassVar[SeedKernel.Dialect]
    DIALECT_UNSPECIFIED: SeedKernel.Dialect
    CUDA: SeedKernel.Dialect
    HIP: SeedKernel.Dialect
    TRITON: SeedKernel.Dialect
    DIALECT_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    PROVENANCE_FIELD_NUMBER: _ClassVar[int]
    dialect: SeedKernel.Dialect
    sources: _containers.RepeatedCompositeFieldContainer[_artifact_pb2.Artifact]
    provenance: Provenance
    def __init__(self, dialect: _Optional[_Union[SeedKernel.Dialect, str]] = ..., sources: _Optional[_Iterable[_Union[_artifact_pb2.Artifact, _Mapping]]] = ..., provenance: _Optional[_Union[Provenance, _Mapping]] = ...) -> None: ...

class KernelDefinition(_message.Message):
    __slots__ = ("name", "signature", "text", "line")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    name: str
    signature: str
    text: str
    line: int
    def __init__(self, name: _Optional[str] = ..., signature: _Optional[str] = ..., text: _Optional[str] = ..., line: _Optional[int] = ...) -> None: ...

class Reflection(_message.Message):
    __slots__ = ("model", "text", "prompt_digest", "completion_digest", "prompt_tokens", "completion_tokens")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    PROMPT_DIGEST_FIELD_NUMBER: _ClassVar[int]
    COMPLETION_DIGEST_FIELD_NUMBER: _ClassVar[int]
    PROMPT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COMPLETION_TOKENS_FIELD_NUMBER: _ClassVar[int]
    model: str
    text: str
    prompt_digest: _artifact_pb2.Digest
    completion_digest: _artifact_pb2.Digest
    prompt_tokens: int
    completion_tokens: int
    def __init__(self, model: _Optional[str] = ..., text: _Optional[str] = ..., prompt_digest: _Optional[_Union[_artifact_pb2.Digest, _Mapping]] = ..., completion_digest: _Optional[_Union[_artifact_pb2.Digest, _Mapping]] = ..., prompt_tokens: _Optional[int] = ..., completion_tokens: _Optional[int] = ...) -> None: ...

class ExecutionMetadata(_message.Message):
    __slots__ = ("worker", "queue_time", "start_time", "end_time", "stages", "toolchain")
    class ToolchainEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class StageTime(_message.Message):
        __slots__ = ("stage", "cpu_time")
        STAGE_FIELD_NUMBER: _ClassVar[int]
        CPU_TIME_FIELD_NUMBER: _ClassVar[int]
        stage: str
        cpu_time: _duration_pb2.Duration
        def __init__(self, stage: _Optional[str] = ..., cpu_time: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...
    WORKER_FIELD_NUMBER: _ClassVar[int]
    QUEUE_TIME_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    STAGES_FIELD_NUMBER: _ClassVar[int]
    TOOLCHAIN_FIELD_NUMBER: _ClassVar[int]
    worker: str
    queue_time: _timestamp_pb2.Timestamp
    start_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    stages: _containers.RepeatedCompositeFieldContainer[ExecutionMetadata.StageTime]
    toolchain: _containers.ScalarMap[str, str]
    def __init__(self, worker: _Optional[str] = ..., queue_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., stages: _Optional[_Iterable[_Union[ExecutionMetadata.StageTime, _Mapping]]] = ..., toolchain: _Optional[_Mapping[str, str]] = ...) -> None: ...
