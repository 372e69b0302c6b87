"""One object in front of the five services: what a Python caller uses."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from google.protobuf import duration_pb2

from kernelvault import addresses, client, config, errors
from kernelvault.blobs import Blobs
from kernelvault.v1 import (
    artifact_pb2,
    compiler_pb2,
    compiler_pb2_grpc,
    corpus_pb2,
    corpus_pb2_grpc,
    generator_pb2,
    generator_pb2_grpc,
    kernel_pb2,
    profiler_pb2,
    profiler_pb2_grpc,
    trainer_pb2,
    trainer_pb2_grpc,
)

_PAGE_SIZE = 200
_SETTLING_S = 5.0
_Stage = Callable[[str], None]
_Report = compiler_pb2.VerificationReport


class Client:
    """A typed client of all services; an async context manager.

    Every method raises errors.Error as the service raised it. UNAVAILABLE is tried again when the service says so,
    until `timeout_s` is over.
    """

    def __init__(
        self,
        where: Mapping[str, str] | None = None,
        *,
        timeout_s: float = client.DEFAULT_TIMEOUT_S,
        on_wait: client.OnWait = lambda error: None,
        settings: config.ClientConfig | None = None,
    ) -> None:
        """`where`: addresses by service name (`compiler`...) that replace those that are known.

        `on_wait` hears why a call waits before it is tried again. `settings` are certificates and a token; those of the
        environment (`KERNELVAULT_TLS_CA_FILE`, `KERNELVAULT_TOKEN_FILE`...) unless given. Raises ConfigError.
        """
        self._settings = config.of_client(os.environ) if settings is None else settings
        self.addresses = {**addresses.known(), **(where or {})}
        self._timeout_s = timeout_s
        self._on_wait = on_wait
        self._channels: dict[str, Any] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends running calls and closes the connections."""
        for channel in self._channels.values():
            await channel.close()
        self._channels.clear()

    async def health(self, service: str, *, timeout_s: float = 2.0) -> str:
        """`SERVING`, `NOT_SERVING`, `NOT_TRUSTED`, or `UNREACHABLE` where nothing answers in time."""
        return await client.health(self._channel(service), timeout_s=timeout_s)

    async def require(self, *services: str) -> None:
        """Raises errors.Unavailable where one of `services` does not answer, or keeps saying that it cannot work."""
        for service in services:
            where = self.addresses[service]
            state = await self._settled_health(service)
            if state == "UNREACHABLE":
                raise errors.Unavailable(
                    "NOT_RUNNING", f"failed to reach the {service} at {where}: nothing answers there"
                )
            if state == "NOT_TRUSTED":
                raise errors.Unavailable(
                    "NOT_TRUSTED",
                    f"failed to use the {service} at {where}: one side does not trust the other's certificate, "
                    "or only one of them speaks TLS",
                )
            if state != "SERVING":
                raise errors.Unavailable(
                    "NOT_SERVING", f"failed to use the {service} at {where}: it says that it cannot work now"
                )

    async def _settled_health(self, service: str) -> str:
        """The health of a service; one that does not serve is asked again, for it may be starting or busy."""
        end = asyncio.get_running_loop().time() + _SETTLING_S
        while True:
            state = await self.health(service)
            if state in ("SERVING", "UNREACHABLE", "NOT_TRUSTED") or asyncio.get_running_loop().time() > end:
                return state
            await asyncio.sleep(0.2)

    # Tasks

    async def prepare_task(self, task: kernel_pb2.Task, *, max_cases: int = 0) -> compiler_pb2.PrepareTaskResponse:
        """The task with its cases, as the compiler found them by running the reference."""
        request = compiler_pb2.PrepareTaskRequest(task=task, max_correctness_cases=max_cases)
        response: compiler_pb2.PrepareTaskResponse = await self._call(self._compiler().PrepareTask, request)
        return response

    async def standardize_task(self, task: kernel_pb2.Task) -> artifact_pb2.Artifact:
        """The functional form of a prepared task's module."""
        request = compiler_pb2.StandardizeTaskRequest(task=task)
        response: compiler_pb2.StandardizeTaskResponse = await self._call(self._compiler().StandardizeTask, request)
        return response.functional

    async def create_task(self, task: kernel_pb2.Task) -> kernel_pb2.Task:
        """Stores a prepared task; an equal one is stored once."""
        stored: kernel_pb2.Task = await self._call(self._corpus().CreateTask, corpus_pb2.CreateTaskRequest(task=task))
        return stored

    async def get_task(self, name: str) -> kernel_pb2.Task:
        """The task of that name."""
        task: kernel_pb2.Task = await self._call(self._corpus().GetTask, corpus_pb2.GetTaskRequest(name=name))
        return task

    def tasks(self) -> AsyncGenerator[kernel_pb2.Task, None]:
        """All tasks of the corpus."""
        return self._pages(self._corpus().ListTasks, corpus_pb2.ListTasksRequest(page_size=_PAGE_SIZE), "tasks")

    # Candidates

    async def verify(
        self,
        action: compiler_pb2.VerifyAction,
        *,
        skip_cache: bool = False,
        on_stage: _Stage = lambda stage: None,
        timeout_s: float | None = None,
    ) -> _Report:
        """The report on a candidate; `on_stage` hears of each stage (`QUEUED`, `COMPILING`...)."""
        request = compiler_pb2.VerifyCandidateRequest(action=action, skip_cache_lookup=skip_cache)
        names = compiler_pb2.VerifyCandidateResponse.Stage
        updates = self._stream(self._compiler().VerifyCandidate, request, timeout_s=timeout_s)
        report: _Report = await _last(updates, "report", names, on_stage)
        return report

    async def examine_script(
        self,
        action: compiler_pb2.ScriptAction,
        *,
        skip_cache: bool = False,
        on_stage: _Stage = lambda stage: None,
        timeout_s: float | None = None,
    ) -> compiler_pb2.ScriptReport:
        """The report on a Triton script that has no task; `on_stage` hears of each stage."""
        request = compiler_pb2.ExamineScriptRequest(action=action, skip_cache_lookup=skip_cache)
        updates = self._stream(self._compiler().ExamineScript, request, timeout_s=timeout_s)
        report: compiler_pb2.ScriptReport
        report = await _last(updates, "report", compiler_pb2.ExamineScriptResponse.Stage, on_stage)
        return report

    async def extract_kernel(self, source: artifact_pb2.Artifact, kernel: str) -> kernel_pb2.KernelDefinition:
        """One `__global__` function of a HIP source, as it stands there."""
        request = compiler_pb2.ExtractKernelRequest(source=source, kernel=kernel)
        response: compiler_pb2.ExtractKernelResponse = await self._call(self._compiler().ExtractKernel, request)
        return response.kernel

    async def splice_kernel(
        self, source: artifact_pb2.Artifact, kernel: str, replacement: str
    ) -> compiler_pb2.SpliceKernelResponse:
        """The source with another definition of one `__global__` function, or why that cannot be."""
        request = compiler_pb2.SpliceKernelRequest(source=source, kernel=kernel, replacement=replacement)
        spliced: compiler_pb2.SpliceKernelResponse = await self._call(self._compiler().SpliceKernel, request)
        return spliced

    async def profile(
        self,
        action: artifact_pb2.Digest,
        *,
        device: str = "MI300X",
        method: profiler_pb2.ProfileCandidateRequest.Method = profiler_pb2.ProfileCandidateRequest.MODEL,
        max_age_s: float | None = None,
        on_stage: _Stage = lambda stage: None,
    ) -> profiler_pb2.Profile:
        """The profile of a candidate whose report is PASSED; `action` is the report's `action_digest`."""
        request = profiler_pb2.ProfileCandidateRequest(verify_action_digest=action, device=device, method=method)
        if max_age_s is not None:
            request.max_age.CopyFrom(duration_pb2.Duration(seconds=int(max_age_s)))
        names = profiler_pb2.ProfileCandidateResponse.Stage
        stub = self._stub(profiler_pb2_grpc.ProfilerStub, "profiler")
        updates = self._stream(stub.ProfileCandidate, request)
        profile: profiler_pb2.Profile = await _last(updates, "profile", names, on_stage)
        return profile

    def generate(
        self, request: generator_pb2.GenerateCandidatesRequest
    ) -> AsyncGenerator[generator_pb2.GenerateCandidatesResponse, None]:
        """Candidates as they are finished. Set `request_id`: none is made twice when the generator goes away."""
        return self._stream(self._generator().GenerateCandidates, request)

    async def reflect(self, request: generator_pb2.ReflectOnAttemptRequest) -> kernel_pb2.Reflection:
        """What a model says of the last attempt. Set `request_id`: it is not asked twice when a call is repeated."""
        response: generator_pb2.ReflectOnAttemptResponse
        response = await self._call(self._generator().ReflectOnAttempt, request)
        return response.reflection

    async def generate_functional(self, request: generator_pb2.GenerateFunctionalRequest) -> artifact_pb2.Artifact:
        """A model's functional form of a module; unchecked."""
        response: generator_pb2.GenerateFunctionalResponse
        response = await self._call(self._generator().GenerateFunctional, request)
        return response.functional

    async def models(self) -> list[generator_pb2.ListModelsResponse.Model]:
        """What can be asked for as `model`."""
        response: generator_pb2.ListModelsResponse
        response = await self._call(self._generator().ListModels, generator_pb2.ListModelsRequest())
        return list(response.models)

    # Corpus

    async def create_sample(self, sample: corpus_pb2.Sample) -> corpus_pb2.Sample:
        """Stores a sample; an equal one is stored once. It is durable when this returns."""
        request = corpus_pb2.CreateSampleRequest(sample=sample)
        stored: corpus_pb2.Sample = await self._call(self._corpus().CreateSample, request)
        return stored

    async def get_sample(self, name: str) -> corpus_pb2.Sample:
        """The sample of that name, whole."""
        sample: corpus_pb2.Sample = await self._call(self._corpus().GetSample, corpus_pb2.GetSampleRequest(name=name))
        return sample

    def samples(self, where: corpus_pb2.SampleFilter | None = None) -> AsyncGenerator[corpus_pb2.Sample, None]:
        """Samples without sources and plans, newest first."""
        request = corpus_pb2.ListSamplesRequest(filter=where, page_size=_PAGE_SIZE)
        return self._pages(self._corpus().ListSamples, request, "samples")

    def search(
        self, query: str, *, where: corpus_pb2.SampleFilter | None = None, limit: int = 0
    ) -> AsyncGenerator[corpus_pb2.SearchSamplesResponse, None]:
        """Samples that hold the words, best first."""
        request = corpus_pb2.SearchSamplesRequest(query=query, filter=where, limit=limit)
        return self._stream(self._corpus().SearchSamples, request)

    async def stats(self, where: corpus_pb2.SampleFilter | None = None) -> corpus_pb2.Stats:
        """Counts of samples and tasks."""
        stats: corpus_pb2.Stats = await self._call(self._corpus().GetStats, corpus_pb2.GetStatsRequest(filter=where))
        return stats

    async def create_snapshot(
        self, snapshot_id: str, where: corpus_pb2.SampleFilter | None = None
    ) -> corpus_pb2.Snapshot:
        """Freezes the samples that match."""
        request = corpus_pb2.CreateSnapshotRequest(snapshot_id=snapshot_id, filter=where)
        snapshot: corpus_pb2.Snapshot = await self._call(self._corpus().CreateSnapshot, request)
        return snapshot

    def snapshots(self) -> AsyncGenerator[corpus_pb2.Snapshot, None]:
        """All snapshots."""
        request = corpus_pb2.ListSnapshotsRequest(page_size=_PAGE_SIZE)
        return self._pages(self._corpus().ListSnapshots, request, "snapshots")

    def read_snapshot(self, name: str, *, offset: int = 0) -> AsyncGenerator[corpus_pb2.ReadSnapshotResponse, None]:
        """The samples of a snapshot in its order; goes on where it stopped when the corpus goes away."""

        def rest(request: Any, last: corpus_pb2.ReadSnapshotResponse) -> corpus_pb2.ReadSnapshotRequest:
            return corpus_pb2.ReadSnapshotRequest(name=name, offset=last.offset + 1)

        request = corpus_pb2.ReadSnapshotRequest(name=name, offset=offset)
        return self._stream(self._corpus().ReadSnapshot, request, resume=rest)

    def blobs(self, cache: Path) -> Blobs:
        """The blob store, with a disk cache in the folder `cache`."""
        return Blobs(self._channel("corpus"), cache)

    # Rewards

    def rewards(
        self, snapshot: str, formula: trainer_pb2.ComputeRewardsRequest.Formula | str
    ) -> AsyncGenerator[trainer_pb2.ComputeRewardsResponse, None]:
        """One reward for each sample of a snapshot, in its order; `formula` by its value or by its name."""
        stub = self._stub(trainer_pb2_grpc.TrainerStub, "trainer")
        request = trainer_pb2.ComputeRewardsRequest(snapshot=snapshot, formula=formula)
        return self._stream(stub.ComputeRewards, request)

    def _compiler(self) -> Any:
        return self._stub(compiler_pb2_grpc.CompilerStub, "compiler")

    def _corpus(self) -> Any:
        return self._stub(corpus_pb2_grpc.CorpusStub, "corpus")

    def _generator(self) -> Any:
        return self._stub(generator_pb2_grpc.GeneratorStub, "generator")

    def _stub(self, kind: Any, service: str) -> Any:
        return kind(self._channel(service))

    def _channel(self, service: str) -> Any:
        if service not in self._channels:
            self._channels[service] = client.channel(self.addresses[service], self._settings)
        return self._channels[service]

    async def _call(self, method: Any, request: Any) -> Any:
        return await client.call(method, request, timeout_s=self._timeout_s, on_wait=self._on_wait)

    def _stream(
        self,
        method: Any,
        request: Any,
        *,
        resume: Callable[[Any, Any], Any] | None = None,
        timeout_s: float | None = None,
    ) -> AsyncGenerator[Any, None]:
        return client.stream(
            method, request, timeout_s=timeout_s or self._timeout_s, resume=resume, on_wait=self._on_wait
        )

    async def _pages(self, method: Any, request: Any, field: str) -> AsyncGenerator[Any, None]:
        while True:
            response = await self._call(method, request)
            for item in getattr(response, field):
                yield item
            if not response.next_page_token:
                return
            request.page_token = response.next_page_token


async def _last(updates: AsyncGenerator[Any, None], field: str, stages: Any, on_stage: _Stage) -> Any:
    """The result that ends a stream. Read to its end: leaving it earlier would cancel the call."""
    result = None
    async with contextlib.aclosing(updates) as stream:
        async for update in stream:
            if update.HasField(field):
                result = getattr(update, field)
            else:
                on_stage(stages.Name(update.stage))
    if result is None:
        raise errors.Internal("NO_RESULT", f"the stream ended without a {field}")
    return result
