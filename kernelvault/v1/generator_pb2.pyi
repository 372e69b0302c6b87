from google.rpc import status_pb2 as _status_pb2
from kernelvault.v1 import access_pb2 as _access_pb2
from kernelvault.v1 import artifact_pb2 as _artifact_pb2
from kernelvault.v1 import compiler_pb2 as _compiler_pb2
from kernelvault.v1 import kernel_pb2 as _kernel_pb2
from kernelvault.v1 import profiler_pb2 as _profiler_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GenerateCandidatesRequest(_message.Message):
    __slots__ = ("task", "model", "language", "format", "candidate_count", "sampling", "attempts", "request_id", "target", "seed_kernel", "optimization")
    class Sampling(_message.Message):
        __slots__ = ("temperature", "top_p", "max_output_tokens", "seed")
        TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
        TOP_P_FIELD_NUMBER: _ClassVar[int]
        MAX_OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
        SEED_FIELD_NUMBER: _ClassVar[int]
        temperature: float
        top_p: float
        max_output_tokens: int
        seed: int
        def __init__(self, temperature: _Optional[float] = ..., top_p: _Optional[float] = ..., max_output_tokens: _Optional[int] = ..., seed: _Optional[int] = ...) -> None: ...
    TASK_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    CANDIDATE_COUNT_FIELD_NUMBER: _ClassVar[int]
    SAMPLING_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    SEED_KERNEL_FIELD_NUMBER: _ClassVar[int]
    OPTIMIZATION_FIELD_NUMBER: _ClassVar[int]
    task: str
    model: str
    language: _kernel_pb2.Candidate.Language
    format: _kernel_pb2.Candidate.Format
    candidate_count: int
    sampling: GenerateCandidatesRequest.Sampling
    attempts: _containers.RepeatedCompositeFieldContainer[Attempt]
    request_id: str
    target: str
    seed_kernel: _kernel_pb2.SeedKernel
    optimization: Optimization
    def __init__(self, task: _Optional[str] = ..., model: _Optional[str] = ..., language: _Optional[_Union[_kernel_pb2.Candidate.Language, str]] = ..., format: _Optional[_Union[_kernel_pb2.Candidate.Format, str]] = ..., candidate_count: _Optional[int] = ..., sampling: _Optional[_Union[GenerateCandidatesRequest.Sampling, _Mapping]] = ..., attempts: _Optional[_Iterable[_Union[Attempt, _Mapping]]] = ..., request_id: _Optional[str] = ..., target: _Optional[str] = ..., seed_kernel: _Optional[_Union[_kernel_pb2.SeedKernel, _Mapping]] = ..., optimization: _Optional[_Union[Optimization, _Mapping]] = ...) -> None: ...

class Optimization(_message.Message):
    __slots__ = ("baseline", "kernel")
    BASELINE_FIELD_NUMBER: _ClassVar[int]
    KERNEL_FIELD_NUMBER: _ClassVar[int]
    baseline: Attempt
    kernel: _kernel_pb2.KernelDefinition
    def __init__(self, baseline: _Optional[_Union[Attempt, _Mapping]] = ..., kernel: _Optional[_Union[_kernel_pb2.KernelDefinition, _Mapping]] = ...) -> None: ...

class Attempt(_message.Message):
    __slots__ = ("candidate", "report", "profile", "reflection")
    CANDIDATE_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    REFLECTION_FIELD_NUMBER: _ClassVar[int]
    candidate: _kernel_pb2.Candidate
    report: _compiler_pb2.VerificationReport
    profile: _profiler_pb2.Profile
    reflection: _kernel_pb2.Reflection
    def __init__(self, candidate: _Optional[_Union[_kernel_pb2.Candidate, _Mapping]] = ..., report: _Optional[_Union[_compiler_pb2.VerificationReport, _Mapping]] = ..., profile: _Optional[_Union[_profiler_pb2.Profile, _Mapping]] = ..., reflection: _Optional[_Union[_kernel_pb2.Reflection, _Mapping]] = ...) -> None: ...

class GenerateCandidatesResponse(_message.Message):
    __slots__ = ("sample_index", "candidate", "error", "completion_digest")
    SAMPLE_INDEX_FIELD_NUMBER: _ClassVar[int]
    CANDIDATE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    COMPLETION_DIGEST_FIELD_NUMBER: _ClassVar[int]
    sample_index: int
    candidate: _kernel_pb2.Candidate
    error: _status_pb2.Status
    completion_digest: _artifact_pb2.Digest
    def __init__(self, sample_index: _Optional[int] = ..., candidate: _Optional[_Union[_kernel_pb2.Candidate, _Mapping]] = ..., error: _Optional[_Union[_status_pb2.Status, _Mapping]] = ..., completion_digest: _Optional[_Union[_artifact_pb2.Digest, _Mapping]] = ...) -> None: ...

class ReflectOnAttemptRequest(_message.Message):
    __slots__ = ("task", "model", "attempts", "sampling", "request_id", "target")
    TASK_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    SAMPLING_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    task: str
    model: str
    attempts: _containers.RepeatedCompositeFieldContainer[Attempt]
    sampling: GenerateCandidatesRequest.Sampling
    request_id: str
    target: str
    def __init__(self, task: _Optional[str] = ..., model: _Optional[str] = ..., attempts: _Optional[_Iterable[_Union[Attempt, _Mapping]]] = ..., sampling: _Optional[_Union[GenerateCandidatesRequest.Sampling, _Mapping]] = ..., request_id: _Optional[str] = ..., target: _Optional[str] = ...) -> None: ...

class ReflectOnAttemptResponse(_message.Message):
    __slots__ = ("reflection",)
    REFLECTION_FIELD_NUMBER: _ClassVar[int]
    reflection: _kernel_pb2.Reflection
    def __init__(self, reflection: _Optional[_Union[_kernel_pb2.Reflection, _Mapping]] = ...) -> None: ...

class GenerateFunctionalRequest(_message.Message):
    __slots__ = ("task", "model", "feedback")
    TASK_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    FEEDBACK_FIELD_NUMBER: _ClassVar[int]
    task: _kernel_pb2.Task
    model: str
    feedback: str
    def __init__(self, task: _Optional[_Union[_kernel_pb2.Task, _Mapping]] = ..., model: _Optional[str] = ..., feedback: _Optional[str] = ...) -> None: ...

class GenerateFunctionalResponse(_message.Message):
    __slots__ = ("functional",)
    FUNCTIONAL_FIELD_NUMBER: _ClassVar[int]
    functional: _artifact_pb2.Artifact
    def __init__(self, functional: _Optional[_Union[_artifact_pb2.Artifact, _Mapping]] = ...) -> None: ...

class ListModelsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListModelsResponse(_message.Message):
    __slots__ = ("models",)
    class Model(_message.Message):
        __slots__ = ("name", "backend")
        NAME_FIELD_NUMBER: _ClassVar[int]
        BACKEND_FIELD_NUMBER: _ClassVar[int]
        name: str
        backend: str
        def __init__(self, name: _Optional[str] = ..., backend: _Optional[str] = ...) -> None: ...
    MODELS_FIELD_NUMBER: _ClassVar[int]
    models: _containers.RepeatedCompositeFieldContainer[ListModelsResponse.Model]
    def __init__(self, models: _Optional[_Iterable[_Union[ListModelsResponse.Model, _Mapping]]] = ...) -> None: ...
