"""The agent loop: generate, verify, profile, keep, feed back, refine; many tasks at once."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from kernelvault import errors
from kernelvault.services import Client
from kernelvault.v1 import compiler_pb2, corpus_pb2, generator_pb2, kernel_pb2, profiler_pb2
from kernelvault.v1.kernel_pb2 import Reflection
from orchestrator import candidates, seeds
from orchestrator.author import Author
from orchestrator.journal import Journal
from orchestrator.options import Options

Report = compiler_pb2.VerificationReport
Sample = corpus_pb2.Sample
# A modelled profile is a function of the plans: an earlier one is as good as a new one.
_PROFILE_AGE_S = 365 * 24 * 3600.0
# So many faults of the platform in a row are no accident: the rest of the run is left for later.
_PATIENCE = 8


@dataclasses.dataclass(kw_only=True)
class Outcome:
    """What came of one task."""

    task: kernel_pb2.Task
    # The kernel that is made faster, judged; and what the generator is told of it.
    baseline: Sample | None = None
    optimization: generator_pb2.Optimization | None = None
    samples: list[Sample] = dataclasses.field(default_factory=list)
    # What the model said of samples that failed, by the sample's name; empty ones where it said nothing.
    reflections: dict[str, Reflection] = dataclasses.field(default_factory=dict)
    # Why the attempts were not used up, in words.
    note: str = ""
    # The platform failed, or refused what was asked: the task is not over.
    failed: bool = False

    def best(self) -> Sample | None:
        """The fastest sample that passed, else the last one."""
        passed = [sample for sample in self.samples if sample.report.verdict == Report.PASSED]
        if not passed:
            return self.samples[-1] if self.samples else None
        return min(passed, key=lambda sample: sample.profile.time_ns or float("inf"))

    def speedup(self) -> float | None:
        """The baseline's time over that of the best sample; None where one of both has none."""
        best = self.best()
        if self.baseline is None or best is None or not best.profile.time_ns:
            return None
        return self.baseline.profile.time_ns / best.profile.time_ns or None


class Watcher(Protocol):
    """Hears how a run goes on."""

    def stage(self, title: str, stage: str) -> None:
        """A task entered a stage, for example `attempt 2: COMPILING`."""
        ...

    def ended(self, outcome: Outcome) -> None:
        """A task is over, for this time at least."""
        ...


class Loop:
    """Works on tasks; everything that it did is in the corpus and the journal before it goes on."""

    def __init__(
        self, client: Client, journal: Journal, options: Options, *, run: str, cache: Path, watcher: Watcher
    ) -> None:
        self._client = client
        self._journal = journal
        self._options = options
        self._run = run
        self._blobs = client.blobs(cache)
        self._author = Author(client, options, run=run, blobs=self._blobs)
        self._watcher = watcher
        self._failures = 0

    async def work(self, tasks: Sequence[kernel_pb2.Task]) -> list[Outcome]:
        """The outcome of each task, in order; a fault of the platform ends one task, not the others."""
        room = asyncio.Semaphore(self._options.concurrency)

        async def one(task: kernel_pb2.Task) -> Outcome:
            async with room:
                outcome = Outcome(task=task)
                await self._try(outcome)
                self._watcher.ended(outcome)
                return outcome

        async with asyncio.TaskGroup() as group:
            running = [group.create_task(one(task)) for task in tasks]
        return [task.result() for task in running]

    async def _try(self, outcome: Outcome) -> None:
        if self._failures >= _PATIENCE:
            outcome.failed, outcome.note = True, f"not tried: the platform failed on {_PATIENCE} tasks in a row"
            return
        try:
            await self._work_on(outcome)
            self._failures = 0
        except errors.Error as error:
            self._failures += 1
            whose = "refused" if isinstance(error, errors.InvalidArgument) else "platform"
            outcome.failed, outcome.note = True, f"{whose}: {error}"

    async def _work_on(self, outcome: Outcome) -> None:
        key = key_of(outcome.task)
        entry = self._journal.entry(key)
        outcome.samples = [await self._client.get_sample(name) for name in entry.samples]
        outcome.reflections = dict(entry.reflections)
        if entry.ended:
            outcome.note = entry.note
            return
        outcome.note = await self._prepare(outcome) or await self._attempts(outcome, key)
        self._journal.end(key, outcome.note)

    async def _prepare(self, outcome: Outcome) -> str:
        """Gives the task its cases and its name; returns why that cannot be, or nothing."""
        self._watcher.stage(outcome.task.title, "preparing")
        try:
            prepared = await self._client.prepare_task(outcome.task)
        except (errors.InvalidArgument, errors.FailedPrecondition) as error:
            return f"reference: {error}"
        outcome.task = await self._client.create_task(prepared.task)
        return ""

    async def _attempts(self, outcome: Outcome, key: str) -> str:
        """Refines until the attempts are used up or nobody knows better; returns why it stopped early, or nothing."""
        if self._options.seed:
            for source in self._options.seed.sources:
                await self._blobs.put(source.contents)
        if why := await self._judge_baseline(outcome, key):
            return why
        for number in range(len(outcome.samples) + 1, self._options.attempts + 1):
            say = _Say(self._watcher, outcome.task.title, number)
            try:
                response = await self._answer(outcome, key, say)
            except errors.FailedPrecondition as error:
                return f"not lowered: {error}" if error.reason == "NOT_LOWERABLE" else f"generator: {error}"
            except errors.ResourceExhausted as error:
                return f"generator: {error}"
            if response is None:
                return "nothing better known"
            sample = await self._sample(outcome, response, number, say)
            say("STORING")
            # An equal sample is stored once: the one that comes back may be of an earlier attempt or run.
            sample = await self._client.create_sample(sample)
            self._journal.attempt(key, sample.name)
            outcome.samples.append(sample)
            if sample.report.fault_owner == Report.REFERENCE:
                return f"reference: {sample.report.explanation}"
        return ""

    async def _judge_baseline(self, outcome: Outcome, key: str) -> str:
        """Verifies and measures the kernel that is made faster, if there is one; returns why it is none, or nothing."""
        baseline, known = self._options.baseline, self._journal.entry(key).baseline
        if baseline is None:
            return ""
        if known:
            outcome.baseline = await self._client.get_sample(known)
        else:
            say = _Say(self._watcher, outcome.task.title, 0)
            candidate = candidates.named(baseline.candidate, outcome.task.name)
            report = await self._verify(candidate, outcome.task.name, say)
            sample = await self._measured(outcome, candidate, report, corpus_pb2.Lineage(run=self._run), say)
            outcome.baseline = await self._client.create_sample(sample)
            self._journal.baseline(key, outcome.baseline.name)
        report = outcome.baseline.report
        if report.verdict != Report.PASSED:
            return f"the baseline does not pass: {Report.Verdict.Name(report.verdict)}: {report.explanation}"
        outcome.optimization = optimization = self._author.optimization(outcome.baseline)
        if baseline.kernel:
            found = await self._client.extract_kernel(baseline.candidate.sources[0], baseline.kernel)
            optimization.kernel.CopyFrom(found)
        return ""

    async def _answer(self, outcome: Outcome, key: str, say: Say) -> generator_pb2.GenerateCandidatesResponse | None:
        """A candidate, after a reflection on the last one if that failed; None where there are no more ideas."""
        samples, reflections = outcome.samples, outcome.reflections
        if self._author.should_reflect(samples, reflections):
            say("REFLECTING")
            reflection = await self._author.reflect(samples, reflections)
            if reflection is not None:
                self._journal.reflection(key, samples[-1].name, reflection)
                reflections[samples[-1].name] = reflection
        say("GENERATING")
        return await self._author.write(outcome.task.name, samples, reflections, outcome.optimization)

    async def _sample(
        self, outcome: Outcome, response: generator_pb2.GenerateCandidatesResponse, number: int, say: Say
    ) -> Sample:
        candidate, refusal = response.candidate, response.error.message
        if not refusal and outcome.optimization and outcome.optimization.HasField("kernel"):
            candidate, refusal = await self._spliced(outcome, candidate)
        if refusal:
            candidate, report = await self._author.unusable(outcome.task.name, response, refusal)
        else:
            report = await self._verify(candidate, outcome.task.name, say)
        lineage = self._lineage(outcome, number, None if refusal else candidate)
        return await self._measured(outcome, candidate, report, lineage, say)

    async def _spliced(self, outcome: Outcome, replacement: kernel_pb2.Candidate) -> tuple[kernel_pb2.Candidate, str]:
        """The baseline with another definition of its one kernel, or why that cannot be."""
        baseline = self._options.baseline
        assert baseline is not None
        [source], [text] = baseline.candidate.sources, replacement.sources
        spliced = await self._client.splice_kernel(source, baseline.kernel, text.contents.decode())
        candidate = kernel_pb2.Candidate(
            language=baseline.candidate.language,
            format=baseline.candidate.format,
            entry_point=baseline.candidate.entry_point,
            sources=[spliced.source],
            generation=replacement.generation,
        )
        return candidates.named(candidate, outcome.task.name), spliced.refusal

    async def _measured(
        self,
        outcome: Outcome,
        candidate: kernel_pb2.Candidate,
        report: Report,
        lineage: corpus_pb2.Lineage,
        say: Say,
    ) -> Sample:
        sample = Sample(task=outcome.task.name, candidate=candidate, report=report, lineage=lineage)
        if report.verdict == Report.PASSED and (profile := await self._profile(report, say)):
            sample.profile.CopyFrom(profile)
        return sample

    async def _verify(self, candidate: kernel_pb2.Candidate, task: str, say: Say) -> Report:
        options = self._options
        action = candidates.action(candidate, task, targets=options.targets, timeout_s=options.timeout_s)
        report = await self._client.verify(action, on_stage=say)
        if report.fault_owner == Report.PLATFORM:
            raise errors.Internal("PLATFORM_FAULT", f"failed to verify {candidate.name}: {report.explanation}")
        # When the report is answered from the cache says nothing about the sample.
        report.cached = False
        return report

    async def _profile(self, report: Report, say: Say) -> profiler_pb2.Profile | None:
        say("PROFILING")
        try:
            return await self._client.profile(
                report.action_digest, device=self._options.device, max_age_s=_PROFILE_AGE_S
            )
        except errors.FailedPrecondition as error:
            if error.reason != "DATA_DEPENDENT":
                raise
            return None

    def _lineage(self, outcome: Outcome, number: int, candidate: kernel_pb2.Candidate | None) -> corpus_pb2.Lineage:
        parent = outcome.samples[-1].name if outcome.samples else ""
        lineage = corpus_pb2.Lineage(run=self._run, attempt=number, parent=parent)
        reflection = outcome.reflections.get(parent)
        if reflection is not None and reflection.text:
            lineage.reflection.CopyFrom(reflection)
        if self._options.seed:
            lineage.seed_kernel.CopyFrom(seeds.without_contents(self._options.seed))
        if outcome.baseline and self._options.baseline:
            lineage.baseline, lineage.kernel = outcome.baseline.name, self._options.baseline.kernel
            lineage.edit_distance = self._options.baseline.distance(candidate) if candidate else 0.0
        return lineage


class _Say:
    """Tells the watcher about the stages of one attempt."""

    def __init__(self, watcher: Watcher, title: str, number: int) -> None:
        self._watcher, self._title, self._number = watcher, title, number

    def __call__(self, stage: str) -> None:
        self._watcher.stage(self._title, f"attempt {self._number}: {stage.lower()}")


Say = Callable[[str], None]


def key_of(task: kernel_pb2.Task) -> str:
    """What a journal knows a task by: its title and its reference."""
    return f"{task.title}-{task.reference.digest.hash[:16]}"
