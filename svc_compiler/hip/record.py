"""Records what a candidate's host code does for a case, executing no kernel, and makes a launch plan of it.

Host code runs twice, in two sandboxed processes that differ in the place and the spacing of their device memory: words
that move with it are pointers, any other difference makes the plan data-dependent. In each process it is called twice,
on other buffers: a call that does something else the second time keeps state, and is refused, because a plan replays
the first call only. Constants that the first call alone uploads are no such state, nor is a cached buffer that each
call fills again.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import tempfile
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelvault.replay import bundle
from kernelvault.sandbox import Job, Limits, Outcome, Sandbox, memory
from kernelvault.v1 import kernel_pb2, plan_pb2
from svc_compiler.hip import recording_request as request
from svc_compiler.hip import recording_verdicts
from svc_compiler.hip.host import HostBuild
from svc_compiler.hip.recording_buffers import plan_buffers, renumbered, used_buffers
from svc_compiler.hip.recording_events import Trace
from svc_compiler.hip.recording_plan import Assembler, Unplannable, Unsafe

TRACE_BYTES = 16 << 20
_MEMORY_BYTES = 2 << 30


@dataclass(frozen=True)
class _Run:
    """What differs between the two runs. Bases lie where the kernel places no mappings."""

    base: int
    spacing: int
    poison: int


RUNS = (_Run(0x1000_0000_0000, 1, 0xA5), _Run(0x1A53_0000_0000, 3, 0x5A))


async def record(  # noqa: PLR0917 the stages' common interface
    sandbox: Sandbox,
    host: HostBuild,
    case: kernel_pb2.Case,
    layouts: Mapping[str, Sequence[plan_pb2.Image.ArgumentSlot]],
    padding: Mapping[str, Sequence[int]],
    entry_point: str,
    timeout_s: float,
    *,
    allowed_operators: Collection[str] = (),
) -> plan_pb2.LaunchPlan:
    """The launch plan of `host` for `case`. Kernels have names and no images yet.

    `layouts` are the kernels' arguments in the code object, `padding` the argument bytes that no member owns. A plan
    that is data-dependent says why in its limitations; there are no others. `allowed_operators` are torch's that the
    task leaves to candidates. Raises Refused for how the candidate ended instead; trouble of the platform is an
    errors.Error.
    """
    torch = host.format == kernel_pb2.Candidate.HIP_TORCH
    name = request.entry_name(entry_point, torch, case)
    payload = {
        "recorder": str(host.recorder),
        "library": str(host.library),
        "entry": name,
        "torch": torch,
        "trace_bytes": TRACE_BYTES,
        "layouts": request.layouts(layouts),
        "arguments": request.arguments(case, torch),
        "outputs": [] if torch else request.outputs(case),
    }
    runs = (_run(sandbox, host, payload, run, timeout_s) for run in RUNS)
    first, second = _both(await asyncio.gather(*runs, return_exceptions=True))
    for trace, outcome in (first, second):
        recording_verdicts.check(trace, outcome, case, name=name, torch=torch, allowed_operators=allowed_operators)
    return _plan((first[0], second[0]), case, padding, torch)


def _both(done: Sequence[tuple[Trace, Outcome] | BaseException]) -> list[tuple[Trace, Outcome]]:
    """The runs, after both are over: none is left behind where the other failed."""
    runs = []
    for run in done:
        if isinstance(run, BaseException):
            raise run
        runs.append(run)
    return runs


async def _run(
    sandbox: Sandbox, host: HostBuild, payload: dict[str, Any], run: _Run, timeout_s: float
) -> tuple[Trace, Outcome]:
    folder = Path(tempfile.mkdtemp(dir=host.library.parent, prefix=".record-"))
    descriptor = memory.output(TRACE_BYTES)
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        stack.callback(os.close, descriptor)
        limits = Limits(wall_seconds=timeout_s, cpu_seconds=timeout_s, memory_bytes=_MEMORY_BYTES)
        job = Job(
            folder=folder,
            entry="svc_compiler.hip.record_child:main",
            payload=json.dumps({**payload, **vars(run)}).encode(),
            readable=(host.library, host.recorder),
            descriptors={"trace": descriptor},
            limits=limits,
        )
        outcome = await sandbox.run(job)
        return recording_verdicts.read(descriptor), outcome


def _plan(
    traces: tuple[Trace, Trace], case: kernel_pb2.Case, padding: Mapping[str, Sequence[int]], torch: bool
) -> plan_pb2.LaunchPlan:
    assembler = Assembler(traces, padding)
    buffers = traces[0].buffers
    try:
        calls = [
            (assembler.operations(own, other), assembler.results(own, other))
            for own, other in zip(traces[0].calls, traces[1].calls, strict=False)
        ]
    except Unplannable as error:
        raise recording_verdicts.unplannable(str(error)) from error
    except Unsafe as error:
        raise recording_verdicts.unsafe(error, case) from error
    operations, results = calls[0]
    reasons = [*assembler.differences, *(f"host code reads device memory ({name})" for name in _unique(traces))]
    if not reasons:
        recording_verdicts.check_state(buffers, calls)
    used = {index for operation in operations for index in used_buffers(operation)}
    used |= {result.buffer for result in results}
    own = buffers[: traces[0].calls[1].first_buffer]
    if any(index >= len(own) for index in used):
        raise recording_verdicts.damaged("an operation uses a buffer of a later call")
    made, numbers = plan_buffers(own, used, [parameter.name for parameter in case.parameters])
    plan = plan_pb2.LaunchPlan(
        case_id=case.id,
        buffers=made,
        kernels=[plan_pb2.Kernel(name=kernel) for kernel in assembler.kernels],
        operations=[renumbered(operation, numbers.__getitem__) for operation in operations],
        data_dependent=bool(reasons),
        limitations=reasons,
        returns_sequence=traces[0].calls[0].returned_sequence if torch else case.returns_sequence,
    )
    for name, value in sorted(traces[0].properties.items()):
        plan.assumed_properties.add(name=name, value=value)
    _add_results(plan, results, numbers, case, torch)
    return plan


def _unique(traces: tuple[Trace, Trace]) -> list[str]:
    return list(dict.fromkeys(name for trace in traces for name in trace.downloads))


def _add_results(
    plan: plan_pb2.LaunchPlan,
    results: Sequence[plan_pb2.Result],
    numbers: Mapping[int, int],
    case: kernel_pb2.Case,
    torch: bool,
) -> None:
    """A function's results are what it returned, a launcher's are the outputs that it was given."""
    for result in results:
        if result.buffer < 0:
            plan.buffers.add(role=plan_pb2.Buffer.SCRATCH, name="empty")
        index = numbers[result.buffer] if result.buffer >= 0 else len(plan.buffers) - 1
        plan.results.add(buffer=index, view=result.view)
    if torch:
        return
    places = {b.position: index for index, b in enumerate(plan.buffers) if b.role == plan_pb2.Buffer.OUTPUT}
    for position, output in enumerate(output for output in case.outputs if output.HasField("tensor")):
        view = bundle.contiguous_view(output.tensor.dtype, output.tensor.dims)
        plan.results.add(buffer=places[position], view=view)
