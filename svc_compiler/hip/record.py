"""Records what a candidate's host code does for a case, executing no kernel, and makes a launch plan of it.

Host code runs twice, in two sandboxed processes that differ in the place and the spacing of their device memory: words
that move with it are pointers, any other difference needs a device. In each process it is called twice,
on other buffers: a call that does something else the second time keeps state, and is refused, because a plan replays
the first call only. Constants that the first call alone uploads are no such state, nor is a cached buffer that each
call fills again.

Where host code copies from the device, an oracle replays what it did before, elsewhere, and says what the copy gives;
host code is then recorded again with that answer, until none is wanted.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
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
from svc_compiler.hip.recording_events import Trace
from svc_compiler.hip.recording_plan import Assembler, Unplannable, Unsafe
from svc_compiler.recording import answers as recorded_answers
from svc_compiler.recording import policy, verdicts
from svc_compiler.recording.answers import Answers
from svc_compiler.recording.buffers import add_results, plan_buffers, renumbered, used_buffers
from svc_compiler.recording.calls import Assembled

TRACE_BYTES = 16 << 20
_MEMORY_BYTES = 2 << 30
# Of the time limit, for the last runs.
_LEAST_S = 0.2
# The bytes that a plan's only result has after the plan was executed on the case's inputs. Raises Refused.
Oracle = Callable[[plan_pb2.LaunchPlan], Awaitable[bytes]]


@dataclass(frozen=True)
class _Run:
    """What differs between the two runs. Bases lie where the kernel places no mappings."""

    base: int
    spacing: int
    noise: int


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
    target: str,
    allowed_operators: Collection[str] = (),
    oracle: Oracle | None = None,
    named: Callable[[str], str] = str,
) -> plan_pb2.LaunchPlan:
    """The launch plan of `host` for `case`. Kernels have names and no images yet.

    `layouts` are the kernels' arguments in the code object, `padding` the argument bytes that no member owns. Host code
    has a device of `target`. `allowed_operators` are torch's that the task leaves to candidates. `oracle` answers
    copies from the device; a plan with such copies is data-dependent and says which in its limitations, of which there
    are no others. Without an oracle it ends before the first of them. `timeout_s` bounds all runs of the host code
    together. `named` gives kernels the names that their author knows, for messages.

    Raises Refused for how the candidate ended instead; trouble of the platform is an errors.Error.
    """
    torch = host.format == kernel_pb2.Candidate.HIP_TORCH
    name = request.entry_name(entry_point, torch, case)
    payload = {
        "recorder": str(host.recorder),
        "library": str(host.library),
        "entry": name,
        "torch": torch,
        "trace_bytes": TRACE_BYTES,
        "device": request.device(target),
        "layouts": request.layouts(layouts),
        "arguments": request.arguments(case, torch),
        "outputs": [] if torch else request.outputs(case),
    }
    answers, left_s = Answers(), timeout_s
    while True:
        runs = (_run(sandbox, host, payload, run, answers.pack(), timeout_s=left_s) for run in RUNS)
        both = _both(await asyncio.gather(*runs, return_exceptions=True))
        for trace, outcome in both:
            recording_verdicts.check(trace, outcome, case, name=name, torch=torch, allowed_operators=allowed_operators)
        traces = both[0][0], both[1][0]
        kernels, calls = _assemble(traces, case, padding, named)
        pending = answers.follow(traces[0].buffers, calls[0])
        policy.check(calls[0], answers.given, case, layouts, kernels)
        plan = _plan(traces[0], kernels, calls[0], case, torch)
        if pending is None or oracle is None:
            return plan
        answers.make_room(pending)
        answers.given.append(await oracle(plan))
        left_s = max(_LEAST_S, left_s - max(outcome.cpu_seconds for _, outcome in both))


def _both(done: Sequence[tuple[Trace, Outcome] | BaseException]) -> list[tuple[Trace, Outcome]]:
    """The runs, after both are over: none is left behind where the other failed."""
    runs = []
    for run in done:
        if isinstance(run, BaseException):
            raise run
        runs.append(run)
    return runs


async def _run(
    sandbox: Sandbox, host: HostBuild, payload: dict[str, Any], run: _Run, answers: bytes, *, timeout_s: float
) -> tuple[Trace, Outcome]:
    folder = Path(tempfile.mkdtemp(dir=host.library.parent, prefix=".record-"))
    descriptor = memory.output(TRACE_BYTES)
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        stack.callback(os.close, descriptor)
        given = memory.sealed(answers)
        stack.callback(os.close, given)
        limits = Limits(wall_seconds=timeout_s, cpu_seconds=timeout_s, memory_bytes=_MEMORY_BYTES)
        job = Job(
            folder=folder,
            entry="svc_compiler.hip.record_child:main",
            payload=json.dumps({**payload, **vars(run), "answers_bytes": len(answers)}).encode(),
            readable=(host.library, host.recorder),
            descriptors={"trace": descriptor, "answers": given},
            limits=limits,
        )
        outcome = await sandbox.run(job)
        return recording_verdicts.read(descriptor, outcome), outcome


def _assemble(
    traces: tuple[Trace, Trace],
    case: kernel_pb2.Case,
    padding: Mapping[str, Sequence[int]],
    named: Callable[[str], str],
) -> tuple[list[str], list[Assembled]]:
    """The kernels and the calls as both runs made them; raises Refused where they differ or the second is another."""
    assembler = Assembler(traces, padding)
    try:
        calls = [assembler.call(own, other) for own, other in zip(traces[0].calls, traces[1].calls, strict=False)]
    except Unplannable as error:
        raise verdicts.unplannable(str(error)) from error
    except Unsafe as error:
        raise recording_verdicts.unsafe(error, case, named) from error
    if assembler.differences:
        raise verdicts.unplannable("; ".join(assembler.differences))
    if traces[0].ended:
        verdicts.check_state(traces[0].buffers, calls)
    return assembler.kernels, calls


def _plan(
    trace: Trace, kernels: Sequence[str], call: Assembled, case: kernel_pb2.Case, torch: bool
) -> plan_pb2.LaunchPlan:
    """The plan of the first call, or of what it did before the copy that has no answer, which is its only result."""
    pending = call.reads[-1].source if trace.unanswered else None
    results = call.results if pending is None else [pending]
    unawaited = call.unawaited if pending is None else call.reads[-1].unawaited
    used = {index for operation in call.operations for index in used_buffers(operation)}
    used |= {result.buffer for result in results}
    own = trace.buffers[: trace.calls[1].first_buffer] if trace.ended else trace.buffers
    if any(index >= len(own) for index in used):
        raise verdicts.damaged("an operation uses a buffer of a later call")
    made, numbers = plan_buffers(own, used, [parameter.name for parameter in case.parameters])
    plan = plan_pb2.LaunchPlan(
        case_id=case.id,
        buffers=made,
        kernels=[plan_pb2.Kernel(name=kernel) for kernel in kernels],
        operations=[renumbered(operation, numbers.__getitem__) for operation in call.operations],
        data_dependent=bool(call.reads),
        limitations=recorded_answers.limitations(call.reads),
        unawaited=unawaited,
        returns_sequence=trace.calls[0].returned_sequence if torch else case.returns_sequence,
    )
    for name, value in sorted(trace.properties.items()):
        plan.assumed_properties.add(name=name, value=value)
    add_results(plan, results, numbers)
    if pending is None and not torch:
        _add_outputs(plan, case)
    return plan


def _add_outputs(plan: plan_pb2.LaunchPlan, case: kernel_pb2.Case) -> None:
    """A function's results are what it returned, a launcher's are the outputs that it was given."""
    places = {b.position: index for index, b in enumerate(plan.buffers) if b.role == plan_pb2.Buffer.OUTPUT}
    for position, output in enumerate(output for output in case.outputs if output.HasField("tensor")):
        view = bundle.contiguous_view(output.tensor.dtype, output.tensor.dims)
        plan.results.add(buffer=places[position], view=view)
