import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
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

class Sample(_message.Message):
    __slots__ = ("name", "task", "candidate", "report", "profile", "lineage", "create_time")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TASK_FIELD_NUMBER: _ClassVar[int]
    CANDIDATE_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    LINEAGE_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    name: str
    task: str
    candidate: _kernel_pb2.Candidate
    report: _compiler_pb2.VerificationReport
    profile: _profiler_pb2.Profile
    lineage: Lineage
    create_time: _timestamp_pb2.Timestamp
    def __init__(self, name: _Optional[str] = ..., task: _Optional[str] = ..., candidate: _Optional[_Union[_kernel_pb2.Candidate, _Mapping]] = ..., report: _Optional[_Union[_compiler_pb2.VerificationReport, _Mapping]] = ..., profile: _Optional[_Union[_profiler_pb2.Profile, _Mapping]] = ..., lineage: _Optional[_Union[Lineage, _Mapping]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class Lineage(_message.Message):
    __slots__ = ("run", "attempt", "parent", "reflection", "seed_kernel", "baseline", "kernel", "edit_distance")
    RUN_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    PARENT_FIELD_NUMBER: _ClassVar[int]
    REFLECTION_FIELD_NUMBER: _ClassVar[int]
    SEED_KERNEL_FIELD_NUMBER: _ClassVar[int]
    BASELINE_FIELD_NUMBER: _ClassVar[int]
    KERNEL_FIELD_NUMBER: _ClassVar[int]
    EDIT_DISTANCE_FIELD_NUMBER: _ClassVar[int]
    run: str
    attempt: int
    parent: str
    reflection: _kernel_pb2.Reflection
    seed_kernel: _kernel_pb2.SeedKernel
    baseline: str
    kernel: str
    edit_distance: float
    def __init__(self, run: _Optional[str] = ..., attempt: _Optional[int] = ..., parent: _Optional[str] = ..., reflection: _Optional[_Union[_kernel_pb2.Reflection, _Mapping]] = ..., seed_kernel: _Optional[_Union[_kernel_pb2.SeedKernel, _Mapping]] = ..., baseline: _Optional[str] = ..., kernel: _Optional[str] = ..., edit_distance: _Optional[float] = ...) -> None: ...

class SampleFilter(_message.Message):
    __slots__ = ("tasks", "verdicts", "models", "languages", "runs")
    TASKS_FIELD_NUMBER: _ClassVar[int]
    VERDICTS_FIELD_NUMBER: _ClassVar[int]
    MODELS_FIELD_NUMBER: _ClassVar[int]
    LANGUAGES_FIELD_NUMBER: _ClassVar[int]
    RUNS_FIELD_NUMBER: _ClassVar[int]
    tasks: _containers.RepeatedScalarFieldContainer[str]
    verdicts: _containers.RepeatedScalarFieldContainer[_compiler_pb2.VerificationReport.Verdict]
    models: _containers.RepeatedScalarFieldContainer[str]
    languages: _containers.RepeatedScalarFieldContainer[_kernel_pb2.Candidate.Language]
    runs: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, tasks: _Optional[_Iterable[str]] = ..., verdicts: _Optional[_Iterable[_Union[_compiler_pb2.VerificationReport.Verdict, str]]] = ..., models: _Optional[_Iterable[str]] = ..., languages: _Optional[_Iterable[_Union[_kernel_pb2.Candidate.Language, str]]] = ..., runs: _Optional[_Iterable[str]] = ...) -> None: ...

class Snapshot(_message.Message):
    __slots__ = ("name", "filter", "manifest_digest", "sample_count", "create_time")
    NAME_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    MANIFEST_DIGEST_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_COUNT_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    name: str
    filter: SampleFilter
    manifest_digest: _artifact_pb2.Digest
    sample_count: int
    create_time: _timestamp_pb2.Timestamp
    def __init__(self, name: _Optional[str] = ..., filter: _Optional[_Union[SampleFilter, _Mapping]] = ..., manifest_digest: _Optional[_Union[_artifact_pb2.Digest, _Mapping]] = ..., sample_count: _Optional[int] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class CreateTaskRequest(_message.Message):
    __slots__ = ("task",)
    TASK_FIELD_NUMBER: _ClassVar[int]
    task: _kernel_pb2.Task
    def __init__(self, task: _Optional[_Union[_kernel_pb2.Task, _Mapping]] = ...) -> None: ...

class GetTaskRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class ListTasksRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListTasksResponse(_message.Message):
    __slots__ = ("tasks", "next_page_token")
    TASKS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    tasks: _containers.RepeatedCompositeFieldContainer[_kernel_pb2.Task]
    next_page_token: str
    def __init__(self, tasks: _Optional[_Iterable[_Union[_kernel_pb2.Task, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class CreateSampleRequest(_message.Message):
    __slots__ = ("sample",)
    SAMPLE_FIELD_NUMBER: _ClassVar[int]
    sample: Sample
    def __init__(self, sample: _Optional[_Union[Sample, _Mapping]] = ...) -> None: ...

class GetSampleRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class ListSamplesRequest(_message.Message):
    __slots__ = ("filter", "page_size", "page_token")
    FILTER_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    filter: SampleFilter
    page_size: int
    page_token: str
    def __init__(self, filter: _Optional[_Union[SampleFilter, _Mapping]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListSamplesResponse(_message.Message):
    __slots__ = ("samples", "next_page_token")
    SAMPLES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    samples: _containers.RepeatedCompositeFieldContainer[Sample]
    next_page_token: str
    def __init__(self, samples: _Optional[_Iterable[_Union[Sample, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class SearchSamplesRequest(_message.Message):
    __slots__ = ("query", "filter", "limit")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    query: str
    filter: SampleFilter
    limit: int
    def __init__(self, query: _Optional[str] = ..., filter: _Optional[_Union[SampleFilter, _Mapping]] = ..., limit: _Optional[int] = ...) -> None: ...

class SearchSamplesResponse(_message.Message):
    __slots__ = ("sample", "score")
    SAMPLE_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    sample: Sample
    score: float
    def __init__(self, sample: _Optional[_Union[Sample, _Mapping]] = ..., score: _Optional[float] = ...) -> None: ...

class GetStatsRequest(_message.Message):
    __slots__ = ("filter",)
    FILTER_FIELD_NUMBER: _ClassVar[int]
    filter: SampleFilter
    def __init__(self, filter: _Optional[_Union[SampleFilter, _Mapping]] = ...) -> None: ...

class Stats(_message.Message):
    __slots__ = ("sample_count", "task_count", "by_verdict", "by_language", "by_model", "solved_task_count", "snapshot_count")
    class ByVerdictEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    class ByLanguageEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    class ByModelEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    SAMPLE_COUNT_FIELD_NUMBER: _ClassVar[int]
    TASK_COUNT_FIELD_NUMBER: _ClassVar[int]
    BY_VERDICT_FIELD_NUMBER: _ClassVar[int]
    BY_LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    BY_MODEL_FIELD_NUMBER: _ClassVar[int]
    SOLVED_TASK_COUNT_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_COUNT_FIELD_NUMBER: _ClassVar[int]
    sample_count: int
    task_count: int
    by_verdict: _containers.ScalarMap[str, int]
    by_language: _containers.ScalarMap[str, int]
    by_model: _containers.ScalarMap[str, int]
    solved_task_count: int
    snapshot_count: int
    def __init__(self, sample_count: _Optional[int] = ..., task_count: _Optional[int] = ..., by_verdict: _Optional[_Mapping[str, int]] = ..., by_language: _Optional[_Mapping[str, int]] = ..., by_model: _Optional[_Mapping[str, int]] = ..., solved_task_count: _Optional[int] = ..., snapshot_count: _Optional[int] = ...) -> None: ...

class CreateSnapshotRequest(_message.Message):
    __slots__ = ("snapshot_id", "filter")
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    snapshot_id: str
    filter: SampleFilter
    def __init__(self, snapshot_id: _Optional[str] = ..., filter: _Optional[_Union[SampleFilter, _Mapping]] = ...) -> None: ...

class GetSnapshotRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class ListSnapshotsRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListSnapshotsResponse(_message.Message):
    __slots__ = ("snapshots", "next_page_token")
    SNAPSHOTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    snapshots: _containers.RepeatedCompositeFieldContainer[Snapshot]
    next_page_token: str
    def __init__(self, snapshots: _Optional[_Iterable[_Union[Snapshot, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ReadSnapshotRequest(_message.Message):
    __slots__ = ("name", "offset")
    NAME_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    name: str
    offset: int
    def __init__(self, name: _Optional[str] = ..., offset: _Optional[int] = ...) -> None: ...

class ReadSnapshotResponse(_message.Message):
    __slots__ = ("offset", "sample")
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_FIELD_NUMBER: _ClassVar[int]
    offset: int
    sample: Sample
    def __init__(self, offset: _Optional[int] = ..., sample: _Optional[_Union[Sample, _Mapping]] = ...) -> None: ...
