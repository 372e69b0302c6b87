"""Replays launch plans of Triton candidates by interpretation: numbers, memory errors and counters without a GPU.

An image is a TritonProgram. Each replay is a sandboxed process that holds its functions and no host code of the
candidate; it gets inputs and a plan and leaves outputs, findings and counters. See child.py.
"""

from __future__ import annotations

from pathlib import Path

from kernelvault import errors
from kernelvault.replay import cpu_faults, replays
from kernelvault.replay import plan as plans
from kernelvault.replay.cpu_run import Kind, Run
from kernelvault.replay.replays import Replay
from kernelvault.replay.triton import program as programs
from kernelvault.replay.triton import report as reports
from kernelvault.replay.triton import support
from kernelvault.replay.triton.wording import Wording
from kernelvault.sandbox import Outcome, Sandbox
from kernelvault.v1 import compiler_pb2, plan_pb2, profiler_pb2, triton_pb2

Verdict = compiler_pb2.VerificationReport.Verdict
# Preload it where the sandbox is started: a child then starts in milliseconds.
PRELOAD = ("kernelvault.replay.triton.child",)

_KIND = Kind(entry="kernelvault.replay.triton.child:run", report_bytes=reports.REPORT_BYTES)
# Of the time that a replay has, its estimate may take so much: estimates hold to a factor of two.
_BUDGET_SHARE = 0.5
# What a program costs at the very least, with a load and a store.
_LEAST_PROGRAM_NS = 100_000.0


class TritonModel:
    """Runs plans in `sandbox`, which should have been started with PRELOAD."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    async def replay(
        self,
        plan: plan_pb2.LaunchPlan,
        image: Path,
        inputs: Path,
        *,
        timeout_s: float,
        sample_blocks: int = 0,
        repetitions: int = 1,
        vary_memory: bool = False,
    ) -> Replay:
        """Replays `plan` on the bundle `inputs`; see `cpu_model.CpuModel.replay`, whose rules and errors are these.

        `image` is the file of a TritonProgram. Raises errors.Internal where it is none.
        """
        plans.check(plan)
        program = _read(image)
        runs = [(replays.NO_POISON, False)] if sample_blocks else replays.runs(repetitions, vary_memory)
        budget_ns = timeout_s * 1e9 * _BUDGET_SHARE
        if (fault := _refusal(plan, program, sample_blocks, budget_ns / len(runs))) is not None:
            return Replay(replays.NOT_RUN, fault=fault)
        options = {"budget_ns": budget_ns / len(runs)}
        run = Run(plan, image, inputs, sample_blocks, runs, kind=_KIND, options=options)
        try:
            outcome = await run.start(self._sandbox, timeout_s)
            report = reports.read(run.report())
            if _only_uninitialised(report, outcome) and await self._is_harmless(run, inputs, timeout_s):
                report.findings.clear()
            return _result(run, outcome, report, Wording(plan, program))
        finally:
            run.close()

    async def _is_harmless(self, run: Run, inputs: Path, timeout_s: float) -> bool:
        """Whether what memory holds before it is written makes no difference to the outputs; see CpuModel."""
        poisons = [(poison, False) for poison in replays.OTHER_POISONS]
        options = {"budget_ns": timeout_s * 1e9}
        again = Run(run.plan, run.image, inputs, 0, poisons, kind=_KIND, options=options)
        try:
            outcome = await again.start(self._sandbox, timeout_s)
            same_kind = _only_uninitialised(reports.read(again.report()), outcome)
            return same_kind and again.outputs() == run.outputs()[:1] * len(poisons)
        finally:
            again.close()


def _read(image: Path) -> triton_pb2.TritonProgram:
    try:
        return programs.read(image.read_bytes())
    except programs.Malformed as error:
        raise errors.Internal("IMAGE_MALFORMED", f"failed to read a Triton program: {error}") from error


def _refusal(
    plan: plan_pb2.LaunchPlan, program: triton_pb2.TritonProgram, sample_blocks: int, budget_ns: float
) -> cpu_faults.Fault | None:
    """Why the plan cannot be interpreted, as far as that can be seen without running it."""
    if refusal := cpu_faults.impossible_launch(plan):
        return Verdict.CRASHED, refusal
    if (obstacle := support.obstacle(plan, program)) is not None:
        return Verdict.NEEDS_DEVICE, obstacle
    counts = [plans.thread_count(launch.grid) for launch in plans.launches(plan)]
    work = sum(min(count, sample_blocks) if sample_blocks else count for count in counts)
    if work * _LEAST_PROGRAM_NS > budget_ns:
        why = f"The launches have {work} programs, more than can be interpreted in time: this case needs a GPU."
        return Verdict.NEEDS_DEVICE, why
    return None


def _result(run: Run, outcome: Outcome, report: reports.Report, wording: Wording) -> Replay:
    plan = run.plan
    # What is out of bounds explains races with other rows, not the other way round.
    first = sorted(report.findings, key=lambda finding: finding.kind == reports.Kind.RACE)
    replay = Replay(outcome, findings=[wording.describe(finding) for finding in first])
    replay.fault = _fault(plan, report, outcome, replay, wording)
    if run.sample_blocks:
        empty = profiler_pb2.Profile.Counters()
        launches = [i for i, o in enumerate(plan.operations) if o.WhichOneof("operation") == "launch"]
        replay.counters = [report.counters.get(i, empty) for i in launches]
    elif replay.fault is None:
        replay.unwritten = [i for i, result in enumerate(plan.results) if result.buffer not in report.launched]
        replay.outputs, replay.inputs_after = run.take_outputs()
    return replay


def _fault(
    plan: plan_pb2.LaunchPlan, report: reports.Report, outcome: Outcome, replay: Replay, wording: Wording
) -> cpu_faults.Fault | None:
    kernel = cpu_faults.kernel_of(plan, report.operation)
    if (ended := cpu_faults.of_end(kernel, outcome, replay.findings)) is not None:
        return ended
    place = wording.place_of(report)
    match report.status:
        case reports.FINISHED:
            return None
        case reports.ASSERTED:
            message = f": {report.text}" if report.text else ""
            return Verdict.CRASHED, f"{place}an assertion of {kernel} failed{message}."
        case reports.UNSUPPORTED:
            return Verdict.NEEDS_DEVICE, f"{place}{kernel} needs what the interpreter lacks: {report.text}."
        case reports.TOO_MUCH:
            what = f"{report.text} would take too long to interpret"
            return Verdict.NEEDS_DEVICE, f"{place}{kernel}: {what}: this case needs a GPU."
        case _:
            raise errors.Internal("REPLAY_BROKEN", f"failed to replay a launch plan: no report of {kernel}")


def _only_uninitialised(report: reports.Report, outcome: Outcome) -> bool:
    """Whether the replay ran to its end and has no other findings than reads of what nobody wrote."""
    ended = outcome.ok and report.status == reports.FINISHED
    few = 0 < len(report.findings) < reports.MAX_FINDINGS
    return ended and few and all(finding.kind == reports.Kind.UNINITIALIZED_READ for finding in report.findings)
