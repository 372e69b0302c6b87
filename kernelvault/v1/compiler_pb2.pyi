import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from kernelvault.v1 import access_pb2 as _access_pb2
from kernelvault.v1 import artifact_pb2 as _artifact_pb2
from kernelvault.v1 import kernel_pb2 as _kernel_pb2
from kernelvault.v1 import plan_pb2 as _plan_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ExtractKernelRequest(_message.Message):
    __slots__ = ("source", "kernel", "target")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    KERNEL_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    source: _artifact_pb2.Artifact
    kernel: str
    target: str
    def __init__(self, source: _Optional[_Union[_artifact_pb2.Artifact, _Mapping]] = ..., kernel: _Optional[str] = ..., target: _Optional[str] = ...) -> None: ...

class ExtractKernelResponse(_message.Message):
    __slots__ = ("kernel",)
    KERNEL_FIELD_NUMBER: _ClassVar[int]
    kernel: _kernel_pb2.KernelDefinition
    def __init__(self, kernel: _Optional[_Union[_kernel_pb2.KernelDefinition, _Mapping]] = ...) -> None: ...

class SpliceKernelRequest(_message.Message):
    __slots__ = ("source", "kernel", "target", "replacement")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    KERNEL_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    REPLACEMENT_FIELD_NUMBER: _ClassVar[int]
    source: _artifact_pb2.Artifact
    kernel: str
    target: str
    replacement: str
    def __init__(self, source: _Optional[_Union[_artifact_pb2.Artifact, _Mapping]] = ..., kernel: _Optional[str] = ..., target: _Optional[str] = ..., replacement: _Optional[str] = ...) -> None: ...

class SpliceKernelResponse(_message.Message):
    __slots__ = ("source", "refusal")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    source: _artifact_pb2.Artifact
    refusal: str
    def __init__(self, source: _Optional[_Union[_artifact_pb2.Artifact, _Mapping]] = ..., refusal: _Optional[str] = ...) -> None: ...

class PrepareTaskRequest(_message.Message):
    __slots__ = ("task", "max_correctness_cases")
    TASK_FIELD_NUMBER: _ClassVar[int]
    MAX_CORRECTNESS_CASES_FIELD_NUMBER: _ClassVar[int]
    task: _kernel_pb2.Task
    max_correctness_cases: int
    def __init__(self, task: _Optional[_Union[_kernel_pb2.Task, _Mapping]] = ..., max_correctness_cases: _Optional[int] = ...) -> None: ...

class PrepareTaskResponse(_message.Message):
    __slots__ = ("task", "notes")
    TASK_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    task: _kernel_pb2.Task
    notes: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, task: _Optional[_Union[_kernel_pb2.Task, _Mapping]] = ..., notes: _Optional[_Iterable[str]] = ...) -> None: ...

class StandardizeTaskRequest(_message.Message):
    __slots__ = ("task",)
    TASK_FIELD_NUMBER: _ClassVar[int]
    task: _kernel_pb2.Task
    def __init__(self, task: _Optional[_Union[_kernel_pb2.Task, _Mapping]] = ...) -> None: ...

class StandardizeTaskResponse(_message.Message):
    __slots__ = ("functional",)
    FUNCTIONAL_FIELD_NUMBER: _ClassVar[int]
    functional: _artifact_pb2.Artifact
    def __init__(self, functional: _Optional[_Union[_artifact_pb2.Artifact, _Mapping]] = ...) -> None: ...

class VerifyAction(_message.Message):
    __slots__ = ("language", "format", "sources", "entry_point", "task", "targets", "timeout", "salt")
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    ENTRY_POINT_FIELD_NUMBER: _ClassVar[int]
    TASK_FIELD_NUMBER: _ClassVar[int]
    TARGETS_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    SALT_FIELD_NUMBER: _ClassVar[int]
    language: _kernel_pb2.Candidate.Language
    format: _kernel_pb2.Candidate.Format
    sources: _containers.RepeatedCompositeFieldContainer[_artifact_pb2.Artifact]
    entry_point: str
    task: str
    targets: _containers.RepeatedScalarFieldContainer[str]
    timeout: _duration_pb2.Duration
    salt: str
    def __init__(self, language: _Optional[_Union[_kernel_pb2.Candidate.Language, str]] = ..., format: _Optional[_Union[_kernel_pb2.Candidate.Format, str]] = ..., sources: _Optional[_Iterable[_Union[_artifact_pb2.Artifact, _Mapping]]] = ..., entry_point: _Optional[str] = ..., task: _Optional[str] = ..., targets: _Optional[_Iterable[str]] = ..., timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., salt: _Optional[str] = ...) -> None: ...

class VerifyCandidateRequest(_message.Message):
    __slots__ = ("action", "skip_cache_lookup")
    ACTION_FIELD_NUMBER: _ClassVar[int]
    SKIP_CACHE_LOOKUP_FIELD_NUMBER: _ClassVar[int]
    action: VerifyAction
    skip_cache_lookup: bool
    def __init__(self, action: _Optional[_Union[VerifyAction, _Mapping]] = ..., skip_cache_lookup: _Optional[bool] = ...) -> None: ...

class VerifyCandidateResponse(_message.Message):
    __slots__ = ("stage", "report")
    class Stage(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        STAGE_UNSPECIFIED: _ClassVar[VerifyCandidateResponse.Stage]
        QUEUED: _ClassVar[VerifyCandidateResponse.Stage]
        REFERENCE: _ClassVar[VerifyCandidateResponse.Stage]
        COMPILING: _ClassVar[VerifyCandidateResponse.Stage]
        RECORDING: _ClassVar[VerifyCandidateResponse.Stage]
        REPLAYING: _ClassVar[VerifyCandidateResponse.Stage]
        COMPARING: _ClassVar[VerifyCandidateResponse.Stage]
    STAGE_UNSPECIFIED: VerifyCandidateResponse.Stage
    QUEUED: VerifyCandidateResponse.Stage
    REFERENCE: VerifyCandidateResponse.Stage
    COMPILING: VerifyCandidateResponse.Stage
    RECORDING: VerifyCandidateResponse.Stage
    REPLAYING: VerifyCandidateResponse.Stage
    COMPARING: VerifyCandidateResponse.Stage
    STAGE_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    stage: VerifyCandidateResponse.Stage
    report: VerificationReport
    def __init__(self, stage: _Optional[_Union[VerifyCandidateResponse.Stage, str]] = ..., report: _Optional[_Union[VerificationReport, _Mapping]] = ...) -> None: ...

class VerificationReport(_message.Message):
    __slots__ = ("action_digest", "verdict", "explanation", "fault_owner", "builds", "case_results", "plans", "findings", "executed_targets", "compiled_targets", "execution_metadata", "cached", "notes", "task", "modelled_target")
    class FaultOwner(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        FAULT_OWNER_UNSPECIFIED: _ClassVar[VerificationReport.FaultOwner]
        CANDIDATE: _ClassVar[VerificationReport.FaultOwner]
        REFERENCE: _ClassVar[VerificationReport.FaultOwner]
        PLATFORM: _ClassVar[VerificationReport.FaultOwner]
    FAULT_OWNER_UNSPECIFIED: VerificationReport.FaultOwner
    CANDIDATE: VerificationReport.FaultOwner
    REFERENCE: VerificationReport.FaultOwner
    PLATFORM: VerificationReport.FaultOwner
    class Verdict(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        VERDICT_UNSPECIFIED: _ClassVar[VerificationReport.Verdict]
        PASSED: _ClassVar[VerificationReport.Verdict]
        REJECTED: _ClassVar[VerificationReport.Verdict]
        PARSE_FAILED: _ClassVar[VerificationReport.Verdict]
        COMPILE_FAILED: _ClassVar[VerificationReport.Verdict]
        CRASHED: _ClassVar[VerificationReport.Verdict]
        TIMED_OUT: _ClassVar[VerificationReport.Verdict]
        MISMATCHED: _ClassVar[VerificationReport.Verdict]
        UNSAFE: _ClassVar[VerificationReport.Verdict]
        NEEDS_DEVICE: _ClassVar[VerificationReport.Verdict]
    VERDICT_UNSPECIFIED: VerificationReport.Verdict
    PASSED: VerificationReport.Verdict
    REJECTED: VerificationReport.Verdict
    PARSE_FAILED: VerificationReport.Verdict
    COMPILE_FAILED: VerificationReport.Verdict
    CRASHED: VerificationReport.Verdict
    TIMED_OUT: VerificationReport.Verdict
    MISMATCHED: VerificationReport.Verdict
    UNSAFE: VerificationReport.Verdict
    NEEDS_DEVICE: VerificationReport.Verdict
    ACTION_DIGEST_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    FAULT_OWNER_FIELD_NUMBER: _ClassVar[int]
    BUILDS_FIELD_NUMBER: _ClassVar[int]
    CASE_RESULTS_FIELD_NUMBER: _ClassVar[int]
    PLANS_FIELD_NUMBER: _ClassVar[int]
    FINDINGS_FIELD_NUMBER: _ClassVar[int]
    EXECUTED_TARGETS_FIELD_NUMBER: _ClassVar[int]
    COMPILED_TARGETS_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_METADATA_FIELD_NUMBER: _ClassVar[int]
    CACHED_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    TASK_FIELD_NUMBER: _ClassVar[int]
    MODELLED_TARGET_FIELD_NUMBER: _ClassVar[int]
    action_digest: _artifact_pb2.Digest
    verdict: VerificationReport.Verdict
    explanation: str
    fault_owner: VerificationReport.FaultOwner
    builds: _containers.RepeatedCompositeFieldContainer[TargetBuild]
    case_results: _containers.RepeatedCompositeFieldContainer[CaseResult]
    plans: _containers.RepeatedCompositeFieldContainer[_plan_pb2.LaunchPlan]
    findings: _containers.RepeatedCompositeFieldContainer[Finding]
    executed_targets: _containers.RepeatedScalarFieldContainer[str]
    compiled_targets: _containers.RepeatedScalarFieldContainer[str]
    execution_metadata: _kernel_pb2.ExecutionMetadata
    cached: bool
    notes: _containers.RepeatedScalarFieldContainer[str]
    task: str
    modelled_target: str
    def __init__(self, action_digest: _Optional[_Union[_artifact_pb2.Digest, _Mapping]] = ..., verdict: _Optional[_Union[VerificationReport.Verdict, str]] = ..., explanation: _Optional[str] = ..., fault_owner: _Optional[_Union[VerificationReport.FaultOwner, str]] = ..., builds: _Optional[_Iterable[_Union[TargetBuild, _Mapping]]] = ..., case_results: _Optional[_Iterable[_Union[CaseResult, _Mapping]]] = ..., plans: _Optional[_Iterable[_Union[_plan_pb2.LaunchPlan, _Mapping]]] = ..., findings: _Optional[_Iterable[_Union[Finding, _Mapping]]] = ..., executed_targets: _Optional[_Iterable[str]] = ..., compiled_targets: _Optional[_Iterable[str]] = ..., execution_metadata: _Optional[_Union[_kernel_pb2.ExecutionMetadata, _Mapping]] = ..., cached: _Optional[bool] = ..., notes: _Optional[_Iterable[str]] = ..., task: _Optional[str] = ..., modelled_target: _Optional[str] = ...) -> None: ...

class ScriptAction(_message.Message):
    __slots__ = ("sources", "main", "targets", "timeout", "max_configurations", "salt")
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    MAIN_FIELD_NUMBER: _ClassVar[int]
    TARGETS_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    MAX_CONFIGURATIONS_FIELD_NUMBER: _ClassVar[int]
    SALT_FIELD_NUMBER: _ClassVar[int]
    sources: _containers.RepeatedCompositeFieldContainer[_artifact_pb2.Artifact]
    main: str
    targets: _containers.RepeatedScalarFieldContainer[str]
    timeout: _duration_pb2.Duration
    max_configurations: int
    salt: str
    def __init__(self, sources: _Optional[_Iterable[_Union[_artifact_pb2.Artifact, _Mapping]]] = ..., main: _Optional[str] = ..., targets: _Optional[_Iterable[str]] = ..., timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., max_configurations: _Optional[int] = ..., salt: _Optional[str] = ...) -> None: ...

class ExamineScriptRequest(_message.Message):
    __slots__ = ("action", "skip_cache_lookup")
    ACTION_FIELD_NUMBER: _ClassVar[int]
    SKIP_CACHE_LOOKUP_FIELD_NUMBER: _ClassVar[int]
    action: ScriptAction
    skip_cache_lookup: bool
    def __init__(self, action: _Optional[_Union[ScriptAction, _Mapping]] = ..., skip_cache_lookup: _Optional[bool] = ...) -> None: ...

class ExamineScriptResponse(_message.Message):
    __slots__ = ("stage", "report")
    class Stage(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        STAGE_UNSPECIFIED: _ClassVar[ExamineScriptResponse.Stage]
        QUEUED: _ClassVar[ExamineScriptResponse.Stage]
        RECORDING: _ClassVar[ExamineScriptResponse.Stage]
        COMPILING: _ClassVar[ExamineScriptResponse.Stage]
        INTERPRETING: _ClassVar[ExamineScriptResponse.Stage]
    STAGE_UNSPECIFIED: ExamineScriptResponse.Stage
    QUEUED: ExamineScriptResponse.Stage
    RECORDING: ExamineScriptResponse.Stage
    COMPILING: ExamineScriptResponse.Stage
    INTERPRETING: ExamineScriptResponse.Stage
    STAGE_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    stage: ExamineScriptResponse.Stage
    report: ScriptReport
    def __init__(self, stage: _Optional[_Union[ExamineScriptResponse.Stage, str]] = ..., report: _Optional[_Union[ScriptReport, _Mapping]] = ...) -> None: ...

class ScriptReport(_message.Message):
    __slots__ = ("action_digest", "compiled", "interpreted", "memory_clean", "builds", "findings", "launch_count", "interpreted_launch_count", "notes", "execution_metadata", "cached")
    class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        STATUS_UNSPECIFIED: _ClassVar[ScriptReport.Status]
        OK: _ClassVar[ScriptReport.Status]
        FAILED: _ClassVar[ScriptReport.Status]
        NEEDS_DEVICE: _ClassVar[ScriptReport.Status]
        TIMED_OUT: _ClassVar[ScriptReport.Status]
        STALLED: _ClassVar[ScriptReport.Status]
        CRASHED: _ClassVar[ScriptReport.Status]
        NOT_RUN: _ClassVar[ScriptReport.Status]
    STATUS_UNSPECIFIED: ScriptReport.Status
    OK: ScriptReport.Status
    FAILED: ScriptReport.Status
    NEEDS_DEVICE: ScriptReport.Status
    TIMED_OUT: ScriptReport.Status
    STALLED: ScriptReport.Status
    CRASHED: ScriptReport.Status
    NOT_RUN: ScriptReport.Status
    class Step(_message.Message):
        __slots__ = ("status", "explanation", "location")
        STATUS_FIELD_NUMBER: _ClassVar[int]
        EXPLANATION_FIELD_NUMBER: _ClassVar[int]
        LOCATION_FIELD_NUMBER: _ClassVar[int]
        status: ScriptReport.Status
        explanation: str
        location: str
        def __init__(self, status: _Optional[_Union[ScriptReport.Status, str]] = ..., explanation: _Optional[str] = ..., location: _Optional[str] = ...) -> None: ...
    ACTION_DIGEST_FIELD_NUMBER: _ClassVar[int]
    COMPILED_FIELD_NUMBER: _ClassVar[int]
    INTERPRETED_FIELD_NUMBER: _ClassVar[int]
    MEMORY_CLEAN_FIELD_NUMBER: _ClassVar[int]
    BUILDS_FIELD_NUMBER: _ClassVar[int]
    FINDINGS_FIELD_NUMBER: _ClassVar[int]
    LAUNCH_COUNT_FIELD_NUMBER: _ClassVar[int]
    INTERPRETED_LAUNCH_COUNT_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_METADATA_FIELD_NUMBER: _ClassVar[int]
    CACHED_FIELD_NUMBER: _ClassVar[int]
    action_digest: _artifact_pb2.Digest
    compiled: ScriptReport.Step
    interpreted: ScriptReport.Step
    memory_clean: ScriptReport.Step
    builds: _containers.RepeatedCompositeFieldContainer[TargetBuild]
    findings: _containers.RepeatedCompositeFieldContainer[Finding]
    launch_count: int
    interpreted_launch_count: int
    notes: _containers.RepeatedScalarFieldContainer[str]
    execution_metadata: _kernel_pb2.ExecutionMetadata
    cached: bool
    def __init__(self, action_digest: _Optional[_Union[_artifact_pb2.Digest, _Mapping]] = ..., compiled: _Optional[_Union[ScriptReport.Step, _Mapping]] = ..., interpreted: _Optional[_Union[ScriptReport.Step, _Mapping]] = ..., memory_clean: _Optional[_Union[ScriptReport.Step, _Mapping]] = ..., builds: _Optional[_Iterable[_Union[TargetBuild, _Mapping]]] = ..., findings: _Optional[_Iterable[_Union[Finding, _Mapping]]] = ..., launch_count: _Optional[int] = ..., interpreted_launch_count: _Optional[int] = ..., notes: _Optional[_Iterable[str]] = ..., execution_metadata: _Optional[_Union[_kernel_pb2.ExecutionMetadata, _Mapping]] = ..., cached: _Optional[bool] = ...) -> None: ...

class TargetBuild(_message.Message):
    __slots__ = ("target", "compiled", "diagnostics", "kernels", "code_object")
    class KernelBuild(_message.Message):
        __slots__ = ("name", "display_name", "resources")
        NAME_FIELD_NUMBER: _ClassVar[int]
        DISPLAY_NAME_FIELD_NUMBER: _ClassVar[int]
        RESOURCES_FIELD_NUMBER: _ClassVar[int]
        name: str
        display_name: str
        resources: _plan_pb2.Resources
        def __init__(self, name: _Optional[str] = ..., display_name: _Optional[str] = ..., resources: _Optional[_Union[_plan_pb2.Resources, _Mapping]] = ...) -> None: ...
    TARGET_FIELD_NUMBER: _ClassVar[int]
    COMPILED_FIELD_NUMBER: _ClassVar[int]
    DIAGNOSTICS_FIELD_NUMBER: _ClassVar[int]
    KERNELS_FIELD_NUMBER: _ClassVar[int]
    CODE_OBJECT_FIELD_NUMBER: _ClassVar[int]
    target: str
    compiled: bool
    diagnostics: _containers.RepeatedCompositeFieldContainer[Diagnostic]
    kernels: _containers.RepeatedCompositeFieldContainer[TargetBuild.KernelBuild]
    code_object: _artifact_pb2.Digest
    def __init__(self, target: _Optional[str] = ..., compiled: _Optional[bool] = ..., diagnostics: _Optional[_Iterable[_Union[Diagnostic, _Mapping]]] = ..., kernels: _Optional[_Iterable[_Union[TargetBuild.KernelBuild, _Mapping]]] = ..., code_object: _Optional[_Union[_artifact_pb2.Digest, _Mapping]] = ...) -> None: ...

class Diagnostic(_message.Message):
    __slots__ = ("level", "file", "line", "column", "message")
    class Level(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        LEVEL_UNSPECIFIED: _ClassVar[Diagnostic.Level]
        NOTE: _ClassVar[Diagnostic.Level]
        WARNING: _ClassVar[Diagnostic.Level]
        ERROR: _ClassVar[Diagnostic.Level]
    LEVEL_UNSPECIFIED: Diagnostic.Level
    NOTE: Diagnostic.Level
    WARNING: Diagnostic.Level
    ERROR: Diagnostic.Level
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    FILE_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    level: Diagnostic.Level
    file: str
    line: int
    column: int
    message: str
    def __init__(self, level: _Optional[_Union[Diagnostic.Level, str]] = ..., file: _Optional[str] = ..., line: _Optional[int] = ..., column: _Optional[int] = ..., message: _Optional[str] = ...) -> None: ...

class Finding(_message.Message):
    __slots__ = ("kind", "message", "case_id", "kernel", "block", "thread", "location", "buffer")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        KIND_UNSPECIFIED: _ClassVar[Finding.Kind]
        OUT_OF_BOUNDS: _ClassVar[Finding.Kind]
        RACE: _ClassVar[Finding.Kind]
        UNINITIALIZED_READ: _ClassVar[Finding.Kind]
        HOST_POINTER: _ClassVar[Finding.Kind]
        DIVERGENT_BARRIER: _ClassVar[Finding.Kind]
        MISALIGNED: _ClassVar[Finding.Kind]
        HOST_ACCESS: _ClassVar[Finding.Kind]
        FOREIGN_OPERATOR: _ClassVar[Finding.Kind]
        INPUT_MUTATION: _ClassVar[Finding.Kind]
        NONDETERMINISM: _ClassVar[Finding.Kind]
        USE_AFTER_FREE: _ClassVar[Finding.Kind]
    KIND_UNSPECIFIED: Finding.Kind
    OUT_OF_BOUNDS: Finding.Kind
    RACE: Finding.Kind
    UNINITIALIZED_READ: Finding.Kind
    HOST_POINTER: Finding.Kind
    DIVERGENT_BARRIER: Finding.Kind
    MISALIGNED: Finding.Kind
    HOST_ACCESS: Finding.Kind
    FOREIGN_OPERATOR: Finding.Kind
    INPUT_MUTATION: Finding.Kind
    NONDETERMINISM: Finding.Kind
    USE_AFTER_FREE: Finding.Kind
    KIND_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    CASE_ID_FIELD_NUMBER: _ClassVar[int]
    KERNEL_FIELD_NUMBER: _ClassVar[int]
    BLOCK_FIELD_NUMBER: _ClassVar[int]
    THREAD_FIELD_NUMBER: _ClassVar[int]
    LOCATION_FIELD_NUMBER: _ClassVar[int]
    BUFFER_FIELD_NUMBER: _ClassVar[int]
    kind: Finding.Kind
    message: str
    case_id: str
    kernel: str
    block: _plan_pb2.Extent
    thread: _plan_pb2.Extent
    location: str
    buffer: str
    def __init__(self, kind: _Optional[_Union[Finding.Kind, str]] = ..., message: _Optional[str] = ..., case_id: _Optional[str] = ..., kernel: _Optional[str] = ..., block: _Optional[_Union[_plan_pb2.Extent, _Mapping]] = ..., thread: _Optional[_Union[_plan_pb2.Extent, _Mapping]] = ..., location: _Optional[str] = ..., buffer: _Optional[str] = ...) -> None: ...

class CaseResult(_message.Message):
    __slots__ = ("case_id", "passed", "explanation", "outputs")
    class OutputResult(_message.Message):
        __slots__ = ("max_absolute_error", "max_relative_error", "mismatched_count", "element_count", "tolerance")
        MAX_ABSOLUTE_ERROR_FIELD_NUMBER: _ClassVar[int]
        MAX_RELATIVE_ERROR_FIELD_NUMBER: _ClassVar[int]
        MISMATCHED_COUNT_FIELD_NUMBER: _ClassVar[int]
        ELEMENT_COUNT_FIELD_NUMBER: _ClassVar[int]
        TOLERANCE_FIELD_NUMBER: _ClassVar[int]
        max_absolute_error: float
        max_relative_error: float
        mismatched_count: int
        element_count: int
        tolerance: _kernel_pb2.Tolerance
        def __init__(self, max_absolute_error: _Optional[float] = ..., max_relative_error: _Optional[float] = ..., mismatched_count: _Optional[int] = ..., element_count: _Optional[int] = ..., tolerance: _Optional[_Union[_kernel_pb2.Tolerance, _Mapping]] = ...) -> None: ...
    CASE_ID_FIELD_NUMBER: _ClassVar[int]
    PASSED_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    case_id: str
    passed: bool
    explanation: str
    outputs: _containers.RepeatedCompositeFieldContainer[CaseResult.OutputResult]
    def __init__(self, case_id: _Optional[str] = ..., passed: _Optional[bool] = ..., explanation: _Optional[str] = ..., outputs: _Optional[_Iterable[_Union[CaseResult.OutputResult, _Mapping]]] = ...) -> None: ...
