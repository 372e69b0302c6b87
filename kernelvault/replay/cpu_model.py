"""Replays launch plans on the CPU model: numbers, memory errors and counters without a GPU.

An image (svc_compiler/hip/image.py) is device code as x86-64 with the model's runtime. Each replay is a sandboxed
process that holds no host code of the candidate; it gets inputs and a plan and leaves outputs, findings and counters.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kernelvault import errors
from kernelvault.replay import bundle, cpu_child, cpu_report
from kernelvault.replay import plan as plans
from kernelvault.sandbox import Job, Limits, Outcome, Sandbox, memory
from kernelvault.v1 import compiler_pb2, plan_pb2, profiler_pb2

Verdict = compiler_pb2.VerificationReport.Verdict
# Preload it where the sandbox is started: a child then starts in milliseconds.
ENTRY = "kernelvault.replay.cpu_child:run"
PRELOAD = ("kernelvault.replay.cpu_child",)

Locate = Callable[[Path, Iterable[int]], Awaitable[Mapping[int, str]]]

# Threads of all launches together; a thread with a hundred accesses takes about half a microsecond.
MAX_THREADS = 1 << 26
# Interpreter, image, fiber stacks, shadow of LDS.
_BASE_BYTES = 1 << 30
# Guards around a buffer, at most; an access is shadowed by four times its size.
_GUARD_BYTES = 8 << 20
_SHADOW_FACTOR = 5
_SHOWN_FINDINGS = 3


@dataclass
class Replay:
    """What a replay left. The descriptors are the caller's to close, see `close`."""

    outcome: Outcome
    # One for each repetition: a bundle of the results in order, contiguous. Empty after a fault and where blocks were
    # sampled.
    outputs: list[int] = field(default_factory=list)
    # The inputs' bundle after the operations of the first repetition.
    inputs_after: int | None = None
    findings: list[compiler_pb2.Finding] = field(default_factory=list)
    # One for each launch, in order; only where blocks were sampled.
    counters: list[profiler_pb2.Profile.Counters] = field(default_factory=list)
    # Why the candidate does not pass, if so.
    fault: tuple[compiler_pb2.VerificationReport.Verdict, str] | None = None

    def close(self) -> None:
        """Closes all descriptors."""
        for descriptor in [*self.outputs, *([] if self.inputs_after is None else [self.inputs_after])]:
            os.close(descriptor)
        self.outputs, self.inputs_after = [], None


class CpuModel:
    """Runs plans in `sandbox`, which should have been started with PRELOAD.

    `locate` gives the `file:line` of code offsets in an image, for findings; without it they have no location.
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
    ) -> Replay:
        """Replays `plan` on the bundle `inputs`, from a fresh state for each repetition.

        With `sample_blocks`, at most that many blocks of each launch run, evenly spread, once; their accesses are
        counted and scaled up, findings and outputs are not made. Raises plan.Malformed for a bad plan, bundle.Malformed
        for bad inputs, errors.Internal where plan and image do not belong together, errors.Unavailable for trouble of
        the platform.
        """
        plans.check(plan)
        work = sum(plans.thread_count(launch.block) * _blocks(launch, sample_blocks) for launch in plans.launches(plan))
        if work * repetitions > MAX_THREADS:
            unknown = Outcome(exit_code=0, signal=None, timed_out=False, out_of_memory=False)
            why = f"The launches have {work} threads, more than the CPU model's {MAX_THREADS}: this case needs a GPU."
            return Replay(unknown, fault=(Verdict.NEEDS_DEVICE, why))
        run = _Run(plan, image, inputs, sample_blocks, 1 if sample_blocks else repetitions)
        try:
            outcome = await run.start(self._sandbox, timeout_s)
            return await self._finish(run, outcome)
        finally:
            run.close()

    async def _finish(self, run: _Run, outcome: Outcome) -> Replay:
        report = cpu_report.read(memory.collect(run.report))
        places = {finding.code for finding in report.findings if finding.code}
        locations = await self._locate(run.image, places) if self._locate and places else {}
        replay = Replay(outcome)
        replay.findings = [cpu_report.describe(finding, run.plan, locations) for finding in report.findings]
        replay.fault = _fault(run.plan, report, outcome, replay.findings)
        if run.sample_blocks:
            launches = [i for i, o in enumerate(run.plan.operations) if o.WhichOneof("operation") == "launch"]
            empty = profiler_pb2.Profile.Counters()
            replay.counters = [report.counters.get(i, empty) for i in launches]
        elif replay.fault is None:
            replay.outputs, replay.inputs_after = run.take_outputs()
        return replay


class _Run:
    """The files of one replay."""

    def __init__(
        self, plan: plan_pb2.LaunchPlan, image: Path, inputs: Path, sample_blocks: int, repetitions: int
    ) -> None:
        self.plan, self.image = plan, image
        self.sample_blocks, self.repetitions = sample_blocks, repetitions
        self._descriptors: dict[str, int] = {}
        try:
            self._open(inputs)
        except BaseException:
            self.close()
            raise

    def _open(self, inputs: Path) -> None:
        self._descriptors["inputs"] = os.open(inputs, os.O_RDONLY | os.O_CLOEXEC)
        self.report = self._descriptors["report"] = memory.output(cpu_report.REPORT_BYTES)
        size = os.fstat(self._descriptors["inputs"]).st_size
        with mmap.mmap(self._descriptors["inputs"], size, prot=mmap.PROT_READ) as data:
            items = bundle.read(memoryview(data))
            after = bundle.size_bytes(items)
            items.clear()
        self._memory = _memory_bytes(self.plan, size, self.repetitions)
        if self.sample_blocks:
            return
        results = _size_of_results(self.plan)
        for number in range(self.repetitions):
            self._descriptors[f"outputs{number}"] = memory.output(results)
        self._descriptors["inputs_after"] = memory.output(after)

    async def start(self, sandbox: Sandbox, timeout_s: float) -> Outcome:
        options = (
            f'{{"image": "{self.image.absolute()}", "sample_blocks": {self.sample_blocks}, '
            f'"repetitions": {self.repetitions}}}'
        )
        with tempfile.TemporaryDirectory(prefix="replay-") as folder:
            job = Job(
                folder=Path(folder),
                entry=ENTRY,
                payload=options.encode() + b"\0" + self.plan.SerializeToString(),
                readable=(self.image.absolute(),),
                descriptors=self._descriptors,
                limits=Limits(wall_seconds=2 * timeout_s, cpu_seconds=timeout_s, memory_bytes=self._memory),
            )
            return await sandbox.run(job)

    def take_outputs(self) -> tuple[list[int], int]:
        outputs = [self._descriptors.pop(f"outputs{number}") for number in range(self.repetitions)]
        return outputs, self._descriptors.pop("inputs_after")

    def close(self) -> None:
        for descriptor in self._descriptors.values():
            os.close(descriptor)
        self._descriptors.clear()


def _blocks(launch: plan_pb2.Launch, sample_blocks: int) -> int:
    count = plans.thread_count(launch.grid)
    return min(count, sample_blocks) if sample_blocks else count


def _memory_bytes(plan: plan_pb2.LaunchPlan, inputs: int, repetitions: int) -> int:
    buffers = sum(buffer.size_bytes + _GUARD_BYTES for buffer in plan.buffers)
    return _BASE_BYTES + _SHADOW_FACTOR * buffers + 2 * inputs + (1 + repetitions) * _size_of_results(plan)


def _size_of_results(plan: plan_pb2.LaunchPlan) -> int:
    """The size of the bundle that the child will write."""
    items = []
    for i, result in enumerate(plan.results):
        view = bundle.contiguous_view(result.view.dtype, result.view.dims)
        size = bundle.element_count(view.dims) * bundle.element_bytes(view.dtype)
        # Never touched: only its size counts.
        storage = memoryview(mmap.mmap(-1, size)) if size else memoryview(b"")
        items.append(bundle.Item(f"output{i}", view, storage))
    return bundle.size_bytes(items)


def _fault(
    plan: plan_pb2.LaunchPlan, report: cpu_report.Report, outcome: Outcome, findings: list[compiler_pb2.Finding]
) -> tuple[compiler_pb2.VerificationReport.Verdict, str] | None:
    kernel = _kernel(plan, report.operation)
    if findings:
        return Verdict.UNSAFE, _explain(findings)
    if outcome.timed_out:
        return Verdict.TIMED_OUT, f"The replay met its time limit in {kernel} ({outcome.describe()})."
    if outcome.out_of_memory:
        return Verdict.NEEDS_DEVICE, "The replay needs more memory than the CPU model gives."
    if outcome.signal is not None:
        return Verdict.CRASHED, f"The replay was {outcome.describe()} in {kernel}."
    if outcome.exit_code == cpu_child.BAD_PLAN:
        return Verdict.CRASHED, outcome.stderr.decode(errors="replace").strip()
    if not outcome.ok:
        raise errors.Internal("REPLAY_BROKEN", f"failed to replay a launch plan: {outcome.describe()}")
    match report.status:
        case cpu_report.FINISHED:
            return None
        case cpu_report.TRAPPED:
            return Verdict.CRASHED, f"{kernel} ended itself: a device assertion failed, or it called abort() or a trap."
        case cpu_report.SPINNING:
            why = "waits for other blocks, which the CPU model runs one after another"
            return Verdict.NEEDS_DEVICE, f"{kernel} {why}."
        case cpu_report.UNSUPPORTED:
            return Verdict.NEEDS_DEVICE, f"{kernel} uses an instruction with operands that the CPU model lacks."
        case cpu_report.STOPPED:
            return Verdict.UNSAFE, f"{kernel} was stopped at an access that would do harm."
        case _:
            raise errors.Internal("PLAN_FOREIGN", f"failed to replay a launch plan: the image cannot run {kernel}")


def _kernel(plan: plan_pb2.LaunchPlan, operation: int) -> str:
    if operation < len(plan.operations) and plan.operations[operation].WhichOneof("operation") == "launch":
        kernel = plan.kernels[plan.operations[operation].launch.kernel]
        return f"the kernel {kernel.display_name or kernel.name}"
    return "the plan"


def _explain(findings: list[compiler_pb2.Finding]) -> str:
    shown = [f"{f.location + ': ' if f.location else ''}{f.kernel}: {f.message}" for f in findings[:_SHOWN_FINDINGS]]
    more = f" And {len(findings) - _SHOWN_FINDINGS} more." if len(findings) > _SHOWN_FINDINGS else ""
    return "; ".join(shown) + "." + more
