"""The backend without a model: lowers a task to HIP by rules, and climbs from naive to tiled by the feedback.

Triton comes from TorchInductor, in variants of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from kernelvault import digest, errors
from kernelvault.sandbox import Sandbox
from kernelvault.v1 import generator_pb2, kernel_pb2
from svc_generator.backends.base import FORMATS, Completion, Thought
from svc_generator.rules import schedules
from svc_generator.rules.emit import emit
from svc_generator.rules.graph import Graph, NotLowerable
from svc_generator.rules.inductor import variants
from svc_generator.rules.inductor.export import Exporter
from svc_generator.rules.inductor.variants import Variant
from svc_generator.rules.schedules import Schedule
from svc_generator.rules.trace import not_lowerable, trace

MODEL = "models/rules"
# For the sandbox: without it, each trace costs what importing torch and its tracer costs.
PRELOAD = ("torch", "svc_generator.rules.trace_warm")
_MAX_GRAPHS = 256
_SOURCES = {
    kernel_pb2.Candidate.HIP_ABI: "kernel.hip",
    kernel_pb2.Candidate.HIP_TORCH: "kernel.hip",
    kernel_pb2.Candidate.TRITON_MODULE: "kernel.py",
}
_ENTRY_POINTS = {
    kernel_pb2.Candidate.HIP_ABI: "run",
    kernel_pb2.Candidate.HIP_TORCH: "forward",
    kernel_pb2.Candidate.TRITON_MODULE: "module_fn",
}


class RulesBackend:
    """Writes the variants of its ladder that no earlier attempt had, the best-suited first.

    The ladder is `schedules.LADDER` for HIP and `variants.LADDER` for Triton.
    """

    name = "rules"

    def __init__(self, sandbox: Sandbox, scratch: Path) -> None:
        """`sandbox` has `PRELOAD` imported; `scratch` holds a folder for each trace while it runs."""
        self._sandbox = sandbox
        self._scratch = scratch
        self._graphs: dict[str, Graph] = {}
        self._exporter = Exporter(scratch)

    async def close(self) -> None:
        """Ends what was started for Triton."""
        await self._exporter.close()

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
        if request.optimization.HasField("kernel"):
            raise errors.InvalidArgument("optimization.kernel", f"{MODEL} writes whole sources; ask a language model")
        format_ = _format(request)
        graph = await self._graph(task)
        known = [*request.attempts, request.optimization.baseline]
        tried = {source.contents for attempt in known for source in attempt.candidate.sources}
        written = 0
        for schedule in _ladder(request, format_):
            if written == max(request.candidate_count, 1):
                return
            contents = await self._write(graph, task, schedule, format_)
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

    async def _write(
        self,
        graph: Graph,
        task: kernel_pb2.Task,
        schedule: Schedule | Variant,
        format_: kernel_pb2.Candidate.Format,
    ) -> bytes:
        """The source of one variant; raises FailedPrecondition."""
        try:
            if isinstance(schedule, Variant):
                return (await self._exporter.export(graph, task, schedule)).encode()
            torch = format_ == kernel_pb2.Candidate.HIP_TORCH
            return (await asyncio.to_thread(emit, graph, schedule, torch=torch)).encode()
        except NotLowerable as error:
            raise not_lowerable(error.operator, str(error)) from error

    async def _graph(self, task: kernel_pb2.Task) -> Graph:
        """The task's graph, traced once while it is among those last asked for."""
        key = digest.of_message(task).hash
        graph = self._graphs.pop(key, None) or await trace(self._sandbox, self._scratch, task)
        self._graphs[key] = graph
        while len(self._graphs) > _MAX_GRAPHS:
            self._graphs.pop(next(iter(self._graphs)))
        return graph


def _format(request: generator_pb2.GenerateCandidatesRequest) -> kernel_pb2.Candidate.Format:
    if request.format:
        known = request.format
    elif request.language == kernel_pb2.Candidate.TRITON:
        known = kernel_pb2.Candidate.TRITON_MODULE
    else:
        known = kernel_pb2.Candidate.HIP_ABI
    if known not in _SOURCES:
        raise errors.InvalidArgument("format", f"{MODEL} writes HIP_ABI, HIP_TORCH and TRITON_MODULE only")
    if request.language not in (kernel_pb2.Candidate.LANGUAGE_UNSPECIFIED, FORMATS[known]):
        raise errors.InvalidArgument("language", f"a {kernel_pb2.Candidate.Format.Name(known)} is in another language")
    return known


def _ladder(
    request: generator_pb2.GenerateCandidatesRequest, format_: kernel_pb2.Candidate.Format
) -> Sequence[Schedule | Variant]:
    if format_ == kernel_pb2.Candidate.TRITON_MODULE:
        return schedules.order(request.attempts, variants.LADDER)
    return schedules.order(request.attempts, schedules.LADDER)


def _completion(
    contents: bytes, schedule: Schedule | Variant, format_: kernel_pb2.Candidate.Format, sample_index: int
) -> Completion:
    return Completion(
        sources=[digest.artifact(_SOURCES[format_], contents)],
        format=format_,
        entry_point=_ENTRY_POINTS[format_],
        rationale=f"{schedule.name}: {schedule.idea}",
        sample_index=sample_index,
    )
