"""The backend without a model: lowers a task to HIP by rules, and climbs from naive to tiled by the feedback."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from kernelvault import digest, errors
from kernelvault.sandbox import Sandbox
from kernelvault.v1 import generator_pb2, kernel_pb2
from svc_generator.backends.base import Completion, Thought
from svc_generator.rules import schedules
from svc_generator.rules.emit import emit
from svc_generator.rules.graph import Graph, NotLowerable
from svc_generator.rules.schedules import Schedule
from svc_generator.rules.trace import not_lowerable, trace

MODEL = "models/rules"
# For the sandbox: without it, each trace costs what importing torch and its tracer costs.
PRELOAD = ("torch", "svc_generator.rules.trace_warm")
_MAX_GRAPHS = 256
_SOURCE = "kernel.hip"


class RulesBackend:
    """Writes the variants of `schedules.LADDER` that no earlier attempt had, the best-suited first."""

    name = "rules"

    def __init__(self, sandbox: Sandbox, scratch: Path) -> None:
        """`sandbox` has `PRELOAD` imported; `scratch` holds a folder for each trace while it runs."""
        self._sandbox = sandbox
        self._scratch = scratch
        self._graphs: dict[str, Graph] = {}

    def models(self) -> list[str]:
        return [MODEL]

    async def generate(
        self,
        task: kernel_pb2.Task,
        request: generator_pb2.GenerateCandidatesRequest,
        *,
        done: frozenset[int] = frozenset(),
    ) -> AsyncIterator[Completion]:
        """Raises FailedPrecondition (`NOT_LOWERABLE`) with the operator named, InvalidArgument for other wishes."""
        if request.HasField("seed_kernel"):
            raise errors.InvalidArgument("seed_kernel", f"{MODEL} ports no kernels; ask a language model")
        format_ = _format(request)
        graph = await self._graph(task)
        tried = {source.contents for attempt in request.attempts for source in attempt.candidate.sources}
        written = 0
        for schedule in schedules.order(request.attempts):
            if written == max(request.candidate_count, 1):
                return
            contents = await asyncio.to_thread(_emit, graph, schedule, format_)
            if contents in tried:
                continue
            tried.add(contents)
            if written not in done:
                yield _completion(contents, schedule, format_, written)
            written += 1

    async def functional(self, request: generator_pb2.GenerateFunctionalRequest) -> bytes:
        """Raises FailedPrecondition: rules write no Python."""
        raise errors.FailedPrecondition(
            "NO_MODEL", f"{MODEL} writes no functional forms; ask a language model", task=request.task.title
        )

    async def reflect(self, task: kernel_pb2.Task, request: generator_pb2.ReflectOnAttemptRequest) -> Thought:
        """Raises FailedPrecondition: rules have no opinion."""
        raise errors.FailedPrecondition(
            "NO_MODEL", f"{MODEL} reflects on no attempts; ask a language model", task=task.title
        )

    async def _graph(self, task: kernel_pb2.Task) -> Graph:
        """The task's graph, traced once while it is among those last asked for."""
        key = digest.of_message(task).hash
        graph = self._graphs.pop(key, None) or await trace(self._sandbox, self._scratch, task)
        self._graphs[key] = graph
        while len(self._graphs) > _MAX_GRAPHS:
            self._graphs.pop(next(iter(self._graphs)))
        return graph


def _format(request: generator_pb2.GenerateCandidatesRequest) -> kernel_pb2.Candidate.Format:
    if request.language not in (kernel_pb2.Candidate.LANGUAGE_UNSPECIFIED, kernel_pb2.Candidate.HIP):
        raise errors.InvalidArgument("language", f"{MODEL} writes HIP only")
    if request.format in (kernel_pb2.Candidate.FORMAT_UNSPECIFIED, kernel_pb2.Candidate.HIP_ABI):
        return kernel_pb2.Candidate.HIP_ABI
    if request.format == kernel_pb2.Candidate.HIP_TORCH:
        return kernel_pb2.Candidate.HIP_TORCH
    raise errors.InvalidArgument("format", f"{MODEL} writes HIP_ABI and HIP_TORCH only")


def _emit(graph: Graph, schedule: Schedule, format_: kernel_pb2.Candidate.Format) -> bytes:
    try:
        return emit(graph, schedule, torch=format_ == kernel_pb2.Candidate.HIP_TORCH).encode()
    except NotLowerable as error:
        raise not_lowerable(error.operator, str(error)) from error


def _completion(
    contents: bytes, schedule: Schedule, format_: kernel_pb2.Candidate.Format, sample_index: int
) -> Completion:
    return Completion(
        sources=[digest.artifact(_SOURCE, contents)],
        format=format_,
        entry_point="forward" if format_ == kernel_pb2.Candidate.HIP_TORCH else "run",
        rationale=f"{schedule.name}: {schedule.idea}",
        sample_index=sample_index,
    )
