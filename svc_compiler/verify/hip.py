"""Verification of HIP candidates: build, record, replay, compare, report."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import tempfile
import time
from pathlib import Path

from kernelvault.replay import plan as plans
from kernelvault.replay.compare import compare
from kernelvault.replay.cpu_model import CpuModel, Replay
from kernelvault.replay.reference import Evaluation, ReferenceFault, References
from kernelvault.sandbox.metering import MeteredSandbox, metered, stage
from kernelvault.v1 import compiler_pb2, kernel_pb2, plan_pb2
from svc_compiler.actions import Work
from svc_compiler.hip.gpu import check_stores
from svc_compiler.hip.record import record
from svc_compiler.refusal import Refused
from svc_compiler.verify import reporting
from svc_compiler.verify.build import Built, HipBuilder, write_sources
from svc_compiler.verify.execution import Execution
from svc_compiler.verify.verifier import Progress, Report

Stages = compiler_pb2.VerifyCandidateResponse
# Each case is replayed this often, to see whether its results repeat.
REPETITIONS = 2


@dataclasses.dataclass(frozen=True, kw_only=True)
class HipVerifier:
    """The real verifier; see `Verifier`."""

    sandbox: MeteredSandbox
    builder: HipBuilder
    references: References
    cpu_model: CpuModel
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

    parts: HipVerifier
    work: Work
    progress: Progress
    draft: Report
    folder: Path

    async def run(self) -> None:
        evaluating = asyncio.create_task(self._evaluate())
        try:
            self.progress(Stages.COMPILING)
            built = await self._build()
            self.progress(Stages.RECORDING)
            recorded = await self._record(built, evaluating)
            self.progress(Stages.REFERENCE)
            evaluations = await evaluating
            reporting.add_notes(self.draft, self.work.task, evaluations)
            self.progress(Stages.REPLAYING)
            await self._check_cases(built, recorded, evaluations)
            reporting.conclude(self.draft)
        except Refused as refusal:
            reporting.refuse(self.draft, refusal)
        except ReferenceFault as fault:
            reporting.blame_reference(self.draft, fault)
        finally:
            evaluating.cancel()
            await asyncio.gather(evaluating, return_exceptions=True)

    async def _evaluate(self) -> dict[str, Evaluation]:
        with stage("reference"):
            task, cases = self.work.task, correctness_cases(self.work.task)
            return {case.id: await self.parts.references.evaluate(task, case) for case in cases}

    async def _build(self) -> Built:
        sources = self.folder / "sources"
        sources.mkdir()
        write_sources(self.work, sources)
        built = await self.parts.builder.build(self.work, sources, self.draft)
        self.draft.compiled_targets.extend(self.work.action.targets)
        return built

    async def _record(
        self, built: Built, evaluating: asyncio.Task[dict[str, Evaluation]]
    ) -> dict[str, plan_pb2.LaunchPlan]:
        """A plan for each case, performance cases included; the draft holds them as far as it came.

        A case that needs a device does not keep the others from showing that the candidate broke a rule.
        """
        postponed: Refused | None = None
        for case in sorted(self.work.task.cases, key=_is_performance):
            try:
                with stage("record"):
                    plan = await self._record_case(case, built, evaluating)
            except Refused as refusal:
                if refusal.verdict != Report.NEEDS_DEVICE:
                    raise
                postponed = postponed or refusal
                continue
            self.draft.plans.append(plan)
        if postponed:
            raise postponed
        return {plan.case_id: plan for plan in self.draft.plans}

    async def _record_case(
        self, case: kernel_pb2.Case, built: Built, evaluating: asyncio.Task[dict[str, Evaluation]]
    ) -> plan_pb2.LaunchPlan:
        """With execution for a correctness case, where host code wants it."""

        async def inputs() -> Path:
            return (await asyncio.shield(evaluating))[case.id].inputs

        def complete(plan: plan_pb2.LaunchPlan) -> None:
            _complete(plan, built)

        execution = Execution(self.parts.cpu_model, built.image.image, complete, inputs, self.work.timeout_s)
        plan = await record(
            self.parts.sandbox,
            built.host,
            case,
            built.layouts,
            built.image.padding,
            self.work.action.entry_point,
            self.work.timeout_s,
            allowed_operators=self.work.task.allowed_operators,
            oracle=None if _is_performance(case) else execution,
        )
        if plan.data_dependent and _is_performance(case):
            return reporting.leave_out(self.draft, plan)
        complete(plan)
        return plan

    async def _check_cases(
        self, built: Built, recorded: dict[str, plan_pb2.LaunchPlan], evaluations: dict[str, Evaluation]
    ) -> None:
        for case in correctness_cases(self.work.task):
            result = await self._check(case, recorded[case.id], built, evaluations[case.id])
            self.draft.case_results.append(result)
            if self.draft.verdict == Report.TIMED_OUT:
                return  # the others would take as long

    async def _check(
        self, case: kernel_pb2.Case, plan: plan_pb2.LaunchPlan, built: Built, evaluation: Evaluation
    ) -> compiler_pb2.CaseResult:
        """Replays one case and compares; a fault of the replay goes into the draft."""
        with stage("replay"):
            replay = await self.parts.cpu_model.replay(
                plan, built.image.image, evaluation.inputs, repetitions=REPETITIONS, timeout_s=self.work.timeout_s
            )
        try:
            return await self._judge(case, replay, evaluation)
        finally:
            replay.close()

    async def _judge(self, case: kernel_pb2.Case, replay: Replay, evaluation: Evaluation) -> compiler_pb2.CaseResult:
        for finding in replay.findings:
            finding.case_id = case.id
            self.draft.findings.append(finding)
        if replay.fault is not None:
            verdict, explanation = replay.fault
            reporting.worsen(self.draft, verdict, f"Case {case.id}: {explanation}")
            return compiler_pb2.CaseResult(case_id=case.id, explanation=explanation)
        with stage("compare"):
            result = await compare(self.parts.sandbox, evaluation, case, replay.outputs, replay.inputs_after)
        if not result.passed:
            inputs = " (its inputs are not contiguous)" if case.strided else ""
            reporting.worsen(self.draft, Report.MISMATCHED, f"Case {case.id}{inputs}: {result.explanation}")
        return result


def _complete(plan: plan_pb2.LaunchPlan, built: Built) -> None:
    """Gives the plan's kernels their images; raises Refused for a plan that breaks a rule."""
    for kernel in plan.kernels:
        check_stores(built.gpu, kernel.name)
        kernel.display_name = built.display_name_of(kernel.name)
        kernel.images.extend(built.images_of(kernel.name))
    try:
        plans.check(plan)
    except plans.Malformed as error:
        raise Refused(Report.REJECTED, f"Case {plan.case_id}: the launch plan is malformed: {error}.") from error


def _is_performance(case: kernel_pb2.Case) -> bool:
    return case.kind == kernel_pb2.Case.PERFORMANCE


def correctness_cases(task: kernel_pb2.Task) -> list[kernel_pb2.Case]:
    """The cases that are compared with the reference, in order."""
    return [case for case in task.cases if not _is_performance(case)]
