"""Captures what a Triton candidate's host code does for a case, executing no kernel, and makes a launch plan of it.

Host code runs in a sandboxed process, on tensors without memory, and is called twice there: a call that does something
else the second time keeps state, and is refused, because a plan replays the first call only. Where host code reads
device data, an oracle replays what it did before, elsewhere, and says what the read gives; host code is then captured
again with that answer, until none is wanted.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from kernelvault.replay import plan as plans
from kernelvault.replay.triton import program as programs
from kernelvault.sandbox import Job, Limits, Outcome, Sandbox, memory
from kernelvault.v1 import kernel_pb2, plan_pb2, triton_pb2
from svc_compiler.recording import answers as recorded_answers
from svc_compiler.recording import policy, verdicts
from svc_compiler.recording.answers import Answers
from svc_compiler.recording.buffers import plan_buffers, renumbered, shape_of_call, used_buffers
from svc_compiler.recording.calls import Assembled, Buffer, Read, Role
from svc_compiler.recording.phases import set_phases
from svc_compiler.triton import capture_verdicts
from svc_compiler.triton.capture_trace import TRACE_BYTES, Call, Trace
from svc_compiler.triton.merging import merge

__all__ = ["PRELOAD", "Captured", "Oracle", "capture", "merge"]

# What the sandbox imports for it before it forks.
PRELOAD = ("torch", "torch._dynamo", "svc_compiler.triton.capture_child")
_ENTRY = "svc_compiler.triton.capture_child:main"
_MEMORY_BYTES = 2 << 30
_LEAST_S = 0.2
# The bytes that a plan's only result has after the plan was executed on the case's inputs. Raises Refused.
Oracle = Callable[[plan_pb2.LaunchPlan, triton_pb2.TritonProgram], Awaitable[bytes]]


class Captured(NamedTuple):
    """A case's plan, whose kernels are variants of the program and have no images yet."""

    plan: plan_pb2.LaunchPlan
    program: triton_pb2.TritonProgram
    # Remarks for the report that change no verdict.
    notes: list[str]


async def capture(  # noqa: PLR0917 the stages' common interface
    sandbox: Sandbox,
    folder: Path,
    main: str,
    case: kernel_pb2.Case,
    task: kernel_pb2.Task,
    entry_point: str,
    timeout_s: float,
    *,
    oracle: Oracle | None = None,
) -> Captured:
    """What the module `main` in `folder` does for `case`.

    `oracle` answers reads of device data; a plan with such reads is data-dependent and says which in its limitations,
    of which there are no others. Without an oracle it ends before the first of them. `timeout_s` bounds all runs of
    the host code together.

    Raises Refused for how the candidate ended instead; trouble of the platform is an errors.Error.
    """
    request = {
        "main": main,
        "entry_point": entry_point,
        "case": case.SerializeToString().hex(),
        "reference": task.reference.contents.decode(errors="replace"),
    }
    answers, left_s = Answers(), timeout_s
    while True:
        trace, outcome = await _run(sandbox, folder, request, answers.given, timeout_s=left_s)
        capture_verdicts.check(trace, outcome, case, task.allowed_operators)
        buffers = [
            Buffer(0, one.size, Role.INPUT if one.given else Role.SCRATCH, one.position, one.name)
            for one in trace.buffers
        ]
        call = _first_call(trace, buffers, case)
        kernels = [variant.name for variant in trace.program.variants]
        if not trace.unanswered:
            _check_state(buffers, trace)
        pending = answers.follow(buffers, call)
        layouts = {variant.name: programs.argument_slots(variant) for variant in trace.program.variants}
        policy.check(call, answers.given, case, layouts, kernels)
        captured = _captured(trace, buffers, call, case)
        if pending is None:
            capture_verdicts.check_results(captured.plan.results, case)
        if pending is None or oracle is None:
            return captured
        answers.make_room(pending)
        answers.given.append(await oracle(captured.plan, captured.program))
        left_s = max(_LEAST_S, left_s - outcome.cpu_seconds)


async def _run(
    sandbox: Sandbox, sources: Path, request: dict[str, str], answers: Sequence[bytes], *, timeout_s: float
) -> tuple[Trace, Outcome]:
    sources = sources if sources.is_absolute() else Path.cwd() / sources
    folder = Path(tempfile.mkdtemp(dir=sources.parent, prefix=".capture-"))
    descriptor = memory.output(TRACE_BYTES)
    head = json.dumps({**request, "sources": str(sources), "answers": [len(answer) for answer in answers]}).encode()
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        stack.callback(os.close, descriptor)
        job = Job(
            folder=folder,
            entry=_ENTRY,
            payload=b"\n".join([head, b"".join(answers)]),
            readable=(sources,),
            descriptors={"trace": descriptor},
            environment={"TRITON_CACHE_DIR": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
            limits=Limits(wall_seconds=timeout_s, cpu_seconds=timeout_s, memory_bytes=_MEMORY_BYTES),
        )
        outcome = await sandbox.run(job)
        return capture_verdicts.read(descriptor, outcome), outcome


def _first_call(trace: Trace, buffers: Sequence[Buffer], case: kernel_pb2.Case) -> Assembled:
    """The first call, with all that happened before it."""
    calls = trace.calls[:2]
    operations: list[plan_pb2.Operation] = []
    reads: list[Read] = []
    for call in calls:
        reads += _reads(call, len(operations))
        operations += call.plan.operations
    set_phases(operations, len(calls[0].plan.operations), buffers, case)
    return Assembled(operations, list(calls[-1].plan.results), reads)


def _reads(call: Call, before: int) -> list[Read]:
    pairs = zip(call.reads, call.read_sources, strict=True)
    return [Read(before + read.position, source, read.what, read.answered) for read, source in pairs]


def _check_state(buffers: Sequence[Buffer], trace: Trace) -> None:
    """Raises Refused where the second call is no repetition of the first.

    Numbers that change may change what a kernel is specialised for: they are chance, and no state.
    """
    calls = [
        Assembled(_by_function(call, trace.program), list(call.plan.results), _reads(call, 0))
        for call in trace.calls[1:]
    ]
    launches = [[one for one in call.plan.operations if one.HasField("launch")] for call in trace.calls[1:]]
    try:
        verdicts.check_state(buffers, calls)
        scalars = [shape_of_call(buffers, one, [], scalars=True) for one in launches]
    except IndexError as error:
        raise verdicts.damaged("there is no such buffer") from error
    sent = [{one.upload.data for one in call.plan.operations if one.HasField("upload")} for call in trace.calls[1:]]
    if scalars[0] != scalars[1] or not sent[1] <= sent[0]:
        raise verdicts.unplannable(
            "host code hands kernels other numbers in a second call with inputs of the same shapes (chance, a clock "
            "or a counter)"
        )


def _by_function(call: Call, program: triton_pb2.TritonProgram) -> list[plan_pb2.Operation]:
    """A call's operations, with functions in the place of their variants."""
    operations = []
    for operation in call.plan.operations:
        changed = plan_pb2.Operation()
        changed.CopyFrom(operation)
        if changed.HasField("launch"):
            changed.launch.kernel = program.variants[changed.launch.kernel].function
            del changed.launch.alternatives[:]
        if changed.HasField("upload"):
            changed.upload.ClearField("data")
        operations.append(changed)
    return operations


def _captured(trace: Trace, buffers: Sequence[Buffer], call: Assembled, case: kernel_pb2.Case) -> Captured:
    """The plan of the first call, or of what it did before the read that has no answer, which is its only result."""
    pending = call.reads[-1].source if trace.unanswered else None
    results = call.results if pending is None else [pending]
    own = buffers[: trace.calls[2].first_buffer] if len(trace.calls) > 2 else buffers
    used = {index for operation in call.operations for index in used_buffers(operation)}
    used |= {result.buffer for result in results}
    if any(not 0 <= index < len(own) for index in used):
        raise verdicts.damaged("an operation uses a buffer of a later call")
    made, numbers = plan_buffers(own, used, [parameter.name for parameter in case.parameters])
    program, kernels = _used_program(trace.program, call.operations)
    plan = plan_pb2.LaunchPlan(
        case_id=case.id,
        buffers=made,
        kernels=[
            plan_pb2.Kernel(name=variant.name, display_name=programs.display_name(program, variant))
            for variant in program.variants
        ],
        operations=[renumbered(operation, numbers.__getitem__) for operation in call.operations],
        results=[plan_pb2.Result(buffer=numbers[one.buffer], view=one.view) for one in results],
        data_dependent=bool(call.reads),
        limitations=recorded_answers.limitations(call.reads),
        returns_sequence=len(trace.calls) > 1 and trace.calls[1].returned_sequence,
    )
    for launch in _launches(plan.operations):
        launch.kernel = kernels[launch.kernel]
    for name, value in sorted(trace.properties.items()):
        plan.assumed_properties.add(name=name, value=value)
    _check(plan)
    return Captured(plan, program, trace.notes)


def _launches(operations: Iterable[plan_pb2.Operation]) -> list[plan_pb2.Launch]:
    launches = [operation.launch for operation in operations if operation.HasField("launch")]
    return [*launches, *(other for launch in launches for other in launch.alternatives)]


def _used_program(
    program: triton_pb2.TritonProgram, operations: Collection[plan_pb2.Operation]
) -> tuple[triton_pb2.TritonProgram, dict[int, int]]:
    """The program with the variants that a plan uses, and their numbers by those of the whole one."""
    used = sorted({launch.kernel for launch in _launches(operations)})
    part = triton_pb2.TritonProgram(functions=program.functions, variants=[program.variants[i] for i in used])
    return part, {index: number for number, index in enumerate(used)}


def _check(plan: plan_pb2.LaunchPlan) -> None:
    """Raises Refused for a plan that no reader takes; blocks are the compiler's to say."""
    whole = plan_pb2.LaunchPlan()
    whole.CopyFrom(plan)
    for kernel in whole.kernels:
        kernel.images.add(target="cpu", block_threads=64)
    try:
        plans.check(whole)
    except plans.Malformed as error:
        raise verdicts.damaged(str(error)) from error
