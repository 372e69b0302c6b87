"""Captures what a module's Python and C++ do for a case, and makes a launch plan of it.

Python runs as in a Triton candidate (`svc_compiler.triton.capture`), on tensors without memory; each call of an
extension runs in the same process, on the recording HIP runtime (`svc_compiler.hip.record`). Two processes, whose
device memory lies at different places, do the same: words that move with it are pointers.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from kernelvault.sandbox import Job, Limits, Outcome, Sandbox, memory
from kernelvault.v1 import kernel_pb2, plan_pb2
from svc_compiler.hip import recording_request, recording_verdicts
from svc_compiler.hip.host import HostBuild
from svc_compiler.hip.record import RUNS, Oracle
from svc_compiler.hip.record import TRACE_BYTES as NATIVE_BYTES
from svc_compiler.hip.recording_events import Trace as NativeTrace
from svc_compiler.hip.recording_plan import Unplannable, Unsafe
from svc_compiler.module.key import key_of
from svc_compiler.module.merging import Merged, merge
from svc_compiler.recording import answers as recorded_answers
from svc_compiler.recording import policy, verdicts
from svc_compiler.recording.answers import Answers
from svc_compiler.recording.buffers import add_results, plan_buffers, renumbered, used_buffers
from svc_compiler.recording.calls import Assembled
from svc_compiler.refusal import Refused, Verdict
from svc_compiler.triton import capture_verdicts
from svc_compiler.triton.capture_trace import CALLS, TRACE_BYTES, Extension, Trace

# What the sandbox imports for it before it forks, besides `svc_compiler.triton.capture.PRELOAD`.
PRELOAD = ("svc_compiler.module.child",)
_ENTRY = "svc_compiler.module.child:main"
_MEMORY_BYTES = 2 << 30
_LEAST_S = 0.2


@dataclass(frozen=True, kw_only=True)
class Module:
    """The Python module whose host code is captured."""

    # Each run has a folder of its own beside this one.
    folder: Path
    # The candidate's sources by their paths, and which of them is the module.
    sources: Mapping[str, bytes]
    main: str
    task: kernel_pb2.Task
    entry_point: str

    def request(self, case: kernel_pb2.Case) -> dict[str, Any]:
        """What the capturing process is told of a case."""
        return {
            "main": self.main,
            "given": list(self.sources),
            "entry_point": self.entry_point,
            "case": case.SerializeToString().hex(),
            "reference": self.task.reference.contents.decode(errors="replace"),
        }


@dataclass(frozen=True, kw_only=True)
class Library:
    """The compiled extensions of a module."""

    host: HostBuild
    extensions: Sequence[Extension]
    layouts: Mapping[str, Sequence[plan_pb2.Image.ArgumentSlot]]
    padding: Mapping[str, Sequence[int]]
    target: str

    def request(self) -> dict[str, Any]:
        """What the recorder is told, but for what differs between the runs."""
        return {
            "recorder": str(self.host.recorder),
            "library": str(self.host.library),
            "trace_bytes": NATIVE_BYTES,
            "device": recording_request.device(self.target),
            "layouts": recording_request.layouts(self.layouts),
        }


class _Run(NamedTuple):
    trace: Trace
    native: NativeTrace
    outcome: Outcome


async def collect(sandbox: Sandbox, module: Module, case: kernel_pb2.Case, timeout_s: float) -> list[Extension]:
    """The extensions that the module loads before it calls the first of them; raises Refused."""
    run = await _run(sandbox, module, {**module.request(case), "native": None}, timeout_s=timeout_s)
    trace = run.trace
    if trace.fault or trace.foreign or trace.limitations or not trace.ended or not trace.extensions:
        capture_verdicts.check(trace, run.outcome, case, module.task.allowed_operators)
    if not trace.extensions:
        raise Refused(
            Verdict.REJECTED,
            "The module builds no extension: call `torch.utils.cpp_extension.load_inline` with the kernels' sources.",
        )
    return trace.extensions


async def capture(
    sandbox: Sandbox,
    module: Module,
    library: Library,
    case: kernel_pb2.Case,
    timeout_s: float,
    *,
    oracle: Oracle | None = None,
    named: Callable[[str], str] = str,
) -> tuple[plan_pb2.LaunchPlan, list[str]]:
    """The module's plan for `case`, whose kernels have names and no images yet, and remarks for the report.

    `oracle` answers reads of device data by Python, as in `svc_compiler.triton.capture`. `timeout_s` bounds all runs
    together. Raises Refused for how the candidate ended instead; trouble of the platform is an errors.Error.
    """
    answers, left_s = Answers(), timeout_s
    while True:
        runs = await _both(sandbox, module, library, case, answers, timeout_s=left_s)
        for run in runs:
            _check(run, library, case, module.task)
        merged = _merge(runs, library, case, named)
        if not merged.unanswered:
            if len(merged.calls) != CALLS + 1:
                raise verdicts.damaged(f"it holds {len(merged.calls)} calls")
            verdicts.check_state(merged.buffers, merged.calls[1:])
        call = merged.first_call(case)
        pending = answers.follow(merged.buffers, call)
        policy.check(call, answers.given, case, library.layouts, merged.kernels)
        plan = _plan(merged, call, runs[0], case)
        if pending is None:
            capture_verdicts.check_results(plan.results, case)
        if pending is None or oracle is None:
            return plan, runs[0].trace.notes
        answers.make_room(pending)
        answers.given.append(await oracle(plan))
        left_s = max(_LEAST_S, left_s - max(run.outcome.cpu_seconds for run in runs))


async def _both(
    sandbox: Sandbox,
    module: Module,
    library: Library,
    case: kernel_pb2.Case,
    answers: Answers,
    *,
    timeout_s: float,
) -> list[_Run]:
    """Both runs, after both are over: none is left behind where the other failed."""
    native = {**library.request(), "answers_bytes": len(answers.pack())}
    requests = ({**module.request(case), "native": {**native, **vars(run)}} for run in RUNS)
    started = (_run(sandbox, module, request, library, answers=answers, timeout_s=timeout_s) for request in requests)
    runs = []
    for run in await asyncio.gather(*started, return_exceptions=True):
        if isinstance(run, BaseException):
            raise run
        runs.append(run)
    return runs


async def _run(
    sandbox: Sandbox,
    module: Module,
    request: dict[str, Any],
    library: Library | None = None,
    *,
    answers: Answers | None = None,
    timeout_s: float,
) -> _Run:
    folder = Path(tempfile.mkdtemp(dir=module.folder.absolute().parent, prefix=".capture-"))
    sources = folder / "sources"
    answers = answers or Answers()
    head = {
        **request,
        "sources": str(sources),
        "answers": [len(answer) for answer in answers.given],
        "built": [key_of(one) for one in library.extensions] if library else [],
    }
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        # Of its own: modules write files and build folders beside themselves.
        for path, contents in module.sources.items():
            (sources / path).parent.mkdir(parents=True, exist_ok=True)
            (sources / path).write_bytes(contents)
        descriptors = {
            "trace": memory.output(TRACE_BYTES),
            "native": memory.output(NATIVE_BYTES),
            "answers": memory.sealed(answers.pack()),
        }
        for descriptor in descriptors.values():
            stack.callback(os.close, descriptor)
        job = Job(
            folder=folder,
            entry=_ENTRY,
            payload=b"\n".join([json.dumps(head).encode(), b"".join(answers.given)]),
            readable=(library.host.library, library.host.recorder) if library else (),
            descriptors=descriptors,
            environment={"TRITON_CACHE_DIR": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
            limits=Limits(wall_seconds=timeout_s, cpu_seconds=timeout_s, memory_bytes=_MEMORY_BYTES),
        )
        outcome = await sandbox.run(job)
        trace = capture_verdicts.read(descriptors["trace"], outcome)
        native = recording_verdicts.read(descriptors["native"], outcome) if library else NativeTrace()
        return _Run(trace, native, outcome)


def _merge(runs: Sequence[_Run], library: Library, case: kernel_pb2.Case, named: Callable[[str], str]) -> Merged:
    try:
        return merge([(run.trace, run.native) for run in runs], library.padding)
    except Unplannable as error:
        raise verdicts.unplannable(str(error)) from error
    except Unsafe as error:
        raise recording_verdicts.unsafe(error, case, named) from error


def _check(run: _Run, library: Library, case: kernel_pb2.Case, task: kernel_pb2.Task) -> None:
    """Raises Refused for a run that leaves no plan."""
    trace, native = run.trace, run.native
    recording_verdicts.check_parts(native, case, task.allowed_operators)
    if trace.program.variants:
        raise verdicts.unplannable("the module launches kernels of Triton and of HIP")
    built = {key_of(one) for one in library.extensions}
    if late := [one.name for one in trace.extensions if key_of(one) not in built]:
        raise verdicts.unplannable(
            f"host code loads the extension `{late[0]}` after a call of another, or for one case"
        )
    if not native.unanswered:
        capture_verdicts.check(trace, run.outcome, case, task.allowed_operators)
    elif not trace.ended:
        raise verdicts.damaged("a part of it is missing")
    else:
        capture_verdicts.check_conduct(trace, case, task.allowed_operators)
        capture_verdicts.check_stopped(trace)


def _plan(merged: Merged, call: Assembled, run: _Run, case: kernel_pb2.Case) -> plan_pb2.LaunchPlan:
    """The plan of the first call, or of what it did before the read that has no answer, which is its only result."""
    pending = call.reads[-1].source if merged.unanswered else None
    results = call.results if pending is None else [pending]
    unawaited = call.unawaited if pending is None else call.reads[-1].unawaited
    own = merged.buffers[: merged.second_call]
    used = {index for operation in call.operations for index in used_buffers(operation)}
    used |= {result.buffer for result in results if not result.variable}
    if any(not 0 <= index < len(own) for index in used):
        raise verdicts.damaged("an operation uses a buffer of a later call")
    made, numbers = plan_buffers(own, used, [parameter.name for parameter in case.parameters])
    plan = plan_pb2.LaunchPlan(
        case_id=case.id,
        buffers=made,
        kernels=[plan_pb2.Kernel(name=kernel) for kernel in merged.kernels],
        operations=[renumbered(operation, numbers.__getitem__) for operation in call.operations],
        data_dependent=bool(call.reads),
        limitations=recorded_answers.limitations(call.reads),
        unawaited=unawaited,
        returns_sequence=len(run.trace.calls) > 1 and run.trace.calls[1].returned_sequence,
    )
    for name, value in sorted({**run.native.properties, **run.trace.properties}.items()):
        plan.assumed_properties.add(name=name, value=value)
    add_results(plan, results, numbers)
    return plan
