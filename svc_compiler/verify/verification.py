"""Verification of a candidate in any language: its plans, their replay, the comparison, the report."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import tempfile
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from kernelvault.replay import plan as plans
from kernelvault.replay.compare import compare
from kernelvault.replay.cpu_model import Replay
from kernelvault.replay.models import Model
from kernelvault.replay.reference import Evaluation, ReferenceFault, References
from kernelvault.sandbox.metering import MeteredSandbox, metered, stage
from kernelvault.together import ended
from kernelvault.v1 import compiler_pb2, kernel_pb2, plan_pb2
from svc_compiler.actions import Work
from svc_compiler.refusal import Refused
from svc_compiler.verify import reporting
from svc_compiler.verify.verifier import Progress, Report

Stages = compiler_pb2.VerifyCandidateResponse
# Each case is replayed this often, to see whether its results repeat.
REPETITIONS = 2


@dataclasses.dataclass(frozen=True, kw_only=True)
class Subject:
    """One candidate under verification, as its language's front end sees it."""

    work: Work
    # Holds the sources and nothing else yet.
    folder: Path
    draft: Report
    progress: Progress
    # The bundle of a correctness case's true inputs.
    inputs: Callable[[kernel_pb2.Case], Awaitable[Path]]

    async def record(
        self, record_case: Callable[[kernel_pb2.Case], Awaitable[plan_pb2.LaunchPlan]]
    ) -> list[plan_pb2.LaunchPlan]:
        """A plan for each case, performance cases last; raises Refused, with the draft holding those before it.

        A case that needs a device does not keep the others from showing that the candidate broke a rule. The plan of
        a performance case that is data-dependent becomes an empty one.
        """
        recorded: list[plan_pb2.LaunchPlan] = []
        postponed: list[Refused] = []
        try:
            for case in sorted(self.work.task.cases, key=is_performance):
                try:
                    with stage("record"):
                        plan = await record_case(case)
                except Refused as refusal:
                    _name_hidden(refusal, case)
                    if refusal.verdict != Report.NEEDS_DEVICE:
                        raise
                    postponed.append(refusal)
                    continue
                if plan.data_dependent and is_performance(case):
                    plan = reporting.leave_out(self.draft, plan)
                elif (fault := _unwritten(plans.unlaunched_results(plan))) is not None:
                    raise Refused(fault[0], f"Case {case.id}: {fault[1]}")
                recorded.append(plan)
            if postponed:
                raise postponed[0]
        except Refused:
            self.draft.plans.extend(recorded)
            raise
        return recorded


def _name_hidden(refusal: Refused, case: kernel_pb2.Case) -> None:
    """What host code said on a hidden case must be known as such, for whoever keeps it from the candidate's author."""
    if not case.hidden:
        return
    if case.id not in refusal.explanation:
        refusal.explanation = f"Case {case.id}: {refusal.explanation}"
    for finding in refusal.findings:
        finding.case_id = finding.case_id or case.id


@dataclasses.dataclass(frozen=True)
class Recorded:
    """What all later stages work on. The plans are complete: their kernels have images."""

    # What the CPU replays: device code only.
    image: Path
    plans: list[plan_pb2.LaunchPlan]


class Frontend(Protocol):
    """What is special to a language: how sources become code and launch plans."""

    def launch_plans(self, subject: Subject) -> Coroutine[Any, Any, Recorded]:
        """Fills in `draft.builds`; raises Refused where the candidate ends, errors.Error where the platform fails."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class CandidateVerifier:
    """The real verifier; see `Verifier`."""

    frontends: Mapping[kernel_pb2.Candidate.Format, Frontend]
    sandbox: MeteredSandbox
    references: References
    model: Model
    # Where each verification gets a folder of its own.
    scratch: Path
    # Names and versions for the report.
    versions: dict[str, str]

    async def verify(self, work: Work, progress: Progress) -> Report:
        """Raises errors.Error where the platform failed."""
        draft = Report(action_digest=work.digest, task=work.task.name)
        started = time.time()
        self.scratch.mkdir(parents=True, exist_ok=True)
        with metered() as meter, tempfile.TemporaryDirectory(dir=self.scratch, prefix="verify-") as folder:
            await _Verification(self, work, progress, draft, Path(folder)).run()
        reporting.check_machine(draft, self.scratch)
        worker = f"{os.uname().nodename}-{os.getpid()}"
        reporting.finish(draft, started=started, meter=meter, versions=self.versions, worker=worker)
        return draft


@dataclasses.dataclass(frozen=True)
class _Verification:
    """One candidate on its way; whatever a stage finds goes into the draft."""

    parts: CandidateVerifier
    work: Work
    progress: Progress
    draft: Report
    folder: Path

    async def run(self) -> None:
        evaluating = asyncio.create_task(self._evaluate())
        try:
            recorded = await self._launch_plans(evaluating)
            self.progress(Stages.REFERENCE)
            evaluations = await evaluating
            reporting.add_notes(self.draft, self.work.task, evaluations)
            self.progress(Stages.REPLAYING)
            await self._check_cases(recorded, evaluations)
            reporting.conclude(self.draft)
        except Refused as refusal:
            reporting.refuse(self.draft, refusal)
        except ReferenceFault as fault:
            reporting.blame_reference(self.draft, fault)
        finally:
            await ended(evaluating)

    async def _evaluate(self) -> dict[str, Evaluation]:
        with stage("reference"):
            task, cases = self.work.task, correctness_cases(self.work.task)
            return {case.id: await self.parts.references.evaluate(task, case) for case in cases}

    async def _launch_plans(self, evaluating: asyncio.Task[dict[str, Evaluation]]) -> Recorded:
        async def inputs(case: kernel_pb2.Case) -> Path:
            return (await asyncio.shield(evaluating))[case.id].inputs

        sources = self.folder / "sources"
        sources.mkdir()
        write_sources(self.work, sources)
        subject = Subject(work=self.work, folder=sources, draft=self.draft, progress=self.progress, inputs=inputs)
        recorded = await self.parts.frontends[self.work.action.format].launch_plans(subject)
        self.draft.plans.extend(recorded.plans)
        return recorded

    async def _check_cases(self, recorded: Recorded, evaluations: dict[str, Evaluation]) -> None:
        by_case = {plan.case_id: plan for plan in recorded.plans}
        for case in correctness_cases(self.work.task):
            result = await self._check(case, by_case[case.id], recorded.image, evaluations[case.id])
            self.draft.case_results.append(result)
            if self.draft.verdict == Report.TIMED_OUT:
                return  # the others would take as long

    async def _check(
        self, case: kernel_pb2.Case, plan: plan_pb2.LaunchPlan, image: Path, evaluation: Evaluation
    ) -> compiler_pb2.CaseResult:
        """Replays one case and compares; a fault of the replay goes into the draft."""
        with stage("replay"):
            replay = await self.parts.model.replay(
                plan, image, evaluation.inputs, repetitions=REPETITIONS, timeout_s=self.work.timeout_s
            )
        try:
            return await self._judge(case, replay, evaluation)
        finally:
            replay.close()

    async def _judge(self, case: kernel_pb2.Case, replay: Replay, evaluation: Evaluation) -> compiler_pb2.CaseResult:
        for finding in replay.findings:
            finding.case_id = case.id
            self.draft.findings.append(finding)
        fault = replay.fault or _unwritten(replay.unwritten)
        if fault is not None:
            verdict, explanation = fault
            reporting.worsen(self.draft, verdict, f"Case {case.id}: {explanation}")
            return compiler_pb2.CaseResult(case_id=case.id, explanation=explanation)
        with stage("compare"):
            result = await compare(self.parts.sandbox, evaluation, case, replay.outputs, replay.inputs_after)
        if not result.passed:
            inputs = " (its inputs are not contiguous)" if case.strided else ""
            reporting.worsen(self.draft, Report.MISMATCHED, f"Case {case.id}{inputs}: {result.explanation}")
        return result


def _unwritten(results: Sequence[int]) -> tuple[Report.Verdict, str] | None:
    """The fault of a candidate whose kernels leave these outputs to copies or to nobody."""
    if not results:
        return None
    outputs = ", ".join(f"output {index}" for index in results)
    return Report.REJECTED, f"no kernel writes {outputs}: each output must be computed by a kernel of the candidate."


def check_plan(plan: plan_pb2.LaunchPlan) -> None:
    """Raises Refused for a plan that breaks a rule; its kernels have their images by then."""
    try:
        plans.check(plan)
    except plans.Malformed as error:
        raise Refused(Report.REJECTED, f"Case {plan.case_id}: the launch plan is malformed: {error}.") from error


def is_performance(case: kernel_pb2.Case) -> bool:
    """Whether a case is timed; the others are compared."""
    return case.kind == kernel_pb2.Case.PERFORMANCE


def correctness_cases(task: kernel_pb2.Task) -> list[kernel_pb2.Case]:
    """The cases that are compared with the reference, in order."""
    return [case for case in task.cases if not is_performance(case)]


def write_sources(work: Work, folder: Path) -> None:
    """Puts a candidate's sources below `folder`."""
    for source in work.action.sources:
        path = folder / source.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(source.contents)
