"""Replays launch plans on the CPU model: numbers, memory errors and counters without a GPU.

An image (svc_compiler/hip/image.py) is device code as x86-64 with the model's runtime. Each replay is a sandboxed
process that holds no host code of the candidate; it gets inputs and a plan and leaves outputs, findings and counters.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path

from kernelvault.replay import cpu_faults, cpu_report, replays
from kernelvault.replay import plan as plans
from kernelvault.replay.cpu_run import Run
from kernelvault.replay.replays import Replay
from kernelvault.sandbox import Outcome, Sandbox
from kernelvault.v1 import compiler_pb2, plan_pb2, profiler_pb2

__all__ = ["MAX_THREADS", "PRELOAD", "CpuModel", "Locate", "Replay"]

Verdict = compiler_pb2.VerificationReport.Verdict
Kind = compiler_pb2.Finding.Kind
# Preload it where the sandbox is started: a child then starts in milliseconds.
PRELOAD = ("kernelvault.replay.cpu_child",)

Locate = Callable[[Path, Iterable[int]], Awaitable[Mapping[int, tuple[str, ...]]]]

# Threads of all launches together; a thread with a hundred accesses takes about half a microsecond.
MAX_THREADS = 1 << 26


class CpuModel:
    """Runs plans in `sandbox`, which should have been started with PRELOAD.

    `locate` gives the `file:line` of code offsets in an image, for findings, and those of the calls that led there;
    without it they have no location.
    """

    def __init__(self, sandbox: Sandbox, *, locate: Locate | None = None) -> None:
        self._sandbox = sandbox
        self._locate = locate

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
        """Replays `plan` on the bundle `inputs`, from a fresh state for each repetition.

        With `sample_blocks`, at most that many blocks of each launch run, evenly spread, once; their accesses are
        counted and scaled up, findings and outputs are not made. From one repetition to the next the order of the
        blocks changes or, with `vary_memory`, what memory holds before it is written. Raises plan.Malformed for a bad
        plan, bundle.Malformed for bad inputs, errors.Internal where plan and image do not belong together,
        errors.Unavailable for trouble of the platform.
        """
        plans.check(plan)
        if refusal := cpu_faults.impossible_launch(plan):
            return Replay(replays.NOT_RUN, fault=(Verdict.CRASHED, refusal))
        work = sum(plans.thread_count(launch.block) * _blocks(launch, sample_blocks) for launch in plans.launches(plan))
        if work * repetitions > MAX_THREADS:
            why = f"The launches have {work} threads, more than the CPU model's {MAX_THREADS}: this case needs a GPU."
            return Replay(replays.NOT_RUN, fault=(Verdict.NEEDS_DEVICE, why))
        runs = [(replays.NO_POISON, False)] if sample_blocks else replays.runs(repetitions, vary_memory)
        run = Run(plan, image, inputs, sample_blocks, runs)
        try:
            outcome = await run.start(self._sandbox, timeout_s)
            report = cpu_report.read(run.report())
            if _only_uninitialised(report, outcome) and await self._is_harmless(run, inputs, timeout_s):
                report.findings.clear()
            return await self._result(run, outcome, report)
        finally:
            run.close()

    async def _is_harmless(self, run: Run, inputs: Path, timeout_s: float) -> bool:
        """Whether what memory holds before it is written makes no difference to the outputs.

        Padding lanes of a tile that nobody filled, read and thrown away, do no harm; anything else shows in an output
        once the memory holds other values: large positive ones, large negative ones.
        """
        again = Run(run.plan, run.image, inputs, 0, [(poison, False) for poison in replays.OTHER_POISONS])
        try:
            outcome = await again.start(self._sandbox, timeout_s)
            same_kind = _only_uninitialised(cpu_report.read(again.report()), outcome)
            return same_kind and again.outputs() == run.outputs()[:1] * len(replays.OTHER_POISONS)
        finally:
            again.close()

    async def _result(self, run: Run, outcome: Outcome, report: cpu_report.Report) -> Replay:
        places = {finding.code for finding in report.findings} | {report.trap[0]}
        places.discard(0)
        locations = await self._locate(run.image, places) if self._locate and places else {}
        replay = Replay(outcome)
        replay.findings = [cpu_report.describe(finding, run.plan, locations) for finding in report.findings]
        replay.fault = cpu_faults.fault(run.plan, report, outcome, replay.findings, locations)
        if run.sample_blocks:
            launches = [i for i, o in enumerate(run.plan.operations) if o.WhichOneof("operation") == "launch"]
            empty = profiler_pb2.Profile.Counters()
            replay.counters = [report.counters.get(i, empty) for i in launches]
        elif replay.fault is None:
            replay.outputs, replay.inputs_after = run.take_outputs()
        return replay


def _only_uninitialised(report: cpu_report.Report, outcome: Outcome) -> bool:
    """Whether the replay ran to its end and has no other findings than reads of what nobody wrote."""
    ended = outcome.ok and report.status == cpu_report.FINISHED
    few = 0 < len(report.findings) < cpu_report.MAX_FINDINGS
    return ended and few and all(finding.kind == Kind.UNINITIALIZED_READ for finding in report.findings)


def _blocks(launch: plan_pb2.Launch, sample_blocks: int) -> int:
    count = plans.thread_count(launch.grid)
    return min(count, sample_blocks) if sample_blocks else count
