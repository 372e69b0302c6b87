"""Verification of HIP candidates: build, record, replay, compare, report."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import tempfile
import time
from pathlib import Path

from kernelvault.replay.compare import compare
from kernelvault.replay.cpu_model import CpuModel, Replay
from kernelvault.replay.reference import Evaluation, ReferenceFault, References

from kernelvault.replay import plan as plans
from kernelvault.v1 import compiler_pb2, kernel_pb2, plan_pb2
from svc_compiler.actions import Work
from svc_compiler.hip.record import record
from svc_compiler.hip.refusal import Refused
from svc_compiler.verify import reporting
from svc_compiler.verify.build import Built, HipBuilder, write_sources
from svc_compiler.verify.metering import MeteredSandbox, metered, stage
from svc_compiler.verify.verifier import Progress, Report

Stages = compiler_pb2.VerifyCandidateResponse
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
        draft = Report(action_digest=work.digest, task=work.action.task)
        queued = time.time()
        with metered() as meter, tempfile.TemporaryDirectory(dir=self.scratch, prefix="verify-") as name:
            evaluating = asyncio.create_task(self._evaluate(work))
            try:
                await self._run(work, progress, draft, Path(name), evaluating)
            except Refused as refusal:
                reporting.refuse(draft, refusal)
            except ReferenceFault as fault:
                reporting.blame_reference(draft, fault)
            finally:
                evaluating.cancel()
                await asyncio.gather(evaluating, return_exceptions=True)
        reporting.check_machine(draft, self.scratch)
        reporting.finish(
            draft, started=queued, meter=meter, versions=self.versions, worker=f"{os.uname().nodename}-{os.getpid()}"
        )
        return draft

    async def _evaluate(self, work: Work) -> dict[str, Evaluation]:
        with stage("reference"):
            return {case.id: await self.references.evaluate(work.task, case) for case in correctness_cases(work.task)}

    async def _run(
        self,
        work: Work,
        progress: Progress,
        draft: Report,
        folder: Path,
        evaluating: asyncio.Task[dict[str, Evaluation]],
    ) -> None:
        progress(Stages.COMPILING)
        sources = folder / "sources"
        sources.mkdir()
        write_sources(work, sources)
        built = await self.builder.build(work, sources, draft)
        draft.compiled_targets.extend(work.action.targets)
        progress(Stages.RECORDING)
        with stage("record"):
            recorded = await self._record(work, built, draft)
        progress(Stages.REFERENCE)
        evaluations = await evaluating
        progress(Stages.REPLAYING)
        for case in correctness_cases(work.task):
            result = await self._check(work, case, recorded[case.id], built, evaluations[case.id], draft)
            draft.case_results.append(result)
            if draft.verdict == Report.TIMED_OUT:
                return
        progress(Stages.COMPARING)
        reporting.conclude(draft)

    async def _record(self, work: Work, built: Built, draft: Report) -> dict[str, plan_pb2.LaunchPlan]:
        """A plan for each case, performance cases included; the draft holds them as far as it came."""
        for case in work.task.cases:
            plan = await record(
                self.sandbox,
                built.host,
                case,
                built.layouts,
                built.image.padding,
                work.action.entry_point,
                work.timeout_s,
            )
            for kernel in plan.kernels:
                kernel.images.extend(built.images_of(kernel.name))
            try:
                plans.check(plan)
            except plans.Malformed as error:
                raise Refused(Report.REJECTED, f"Case {case.id}: the launch plan is malformed: {error}.") from error
            draft.plans.append(plan)
        return {plan.case_id: plan for plan in draft.plans}

    async def _check(
        self,
        work: Work,
        case: kernel_pb2.Case,
        plan: plan_pb2.LaunchPlan,
        built: Built,
        evaluation: Evaluation,
        draft: Report,
    ) -> compiler_pb2.CaseResult:
        """Replays one case and compares; notes a fault of the replay on the draft."""
        if plan.data_dependent:
            reporting.worsen(draft, Report.NEEDS_DEVICE, f"Case {case.id}: {'; '.join(plan.limitations)}")
            return compiler_pb2.CaseResult(case_id=case.id, explanation="not run: host code depends on device data")
        with stage("replay"):
            replay = await self.cpu_model.replay(
                plan, built.image.image, evaluation.inputs, repetitions=REPETITIONS, timeout_s=work.timeout_s
            )
        try:
            return await self._judge(case, replay, evaluation, draft)
        finally:
            replay.close()

    async def _judge(
        self, case: kernel_pb2.Case, replay: Replay, evaluation: Evaluation, draft: Report
    ) -> compiler_pb2.CaseResult:
        for finding in replay.findings:
            finding.case_id = case.id
            draft.findings.append(finding)
        if replay.fault is not None:
            verdict, explanation = replay.fault
            reporting.worsen(draft, verdict, f"Case {case.id}: {explanation}")
            return compiler_pb2.CaseResult(case_id=case.id, explanation=explanation)
        with stage("compare"):
            result = await compare(self.sandbox, evaluation, case, replay.outputs, replay.inputs_after)
        if not result.passed:
            reporting.worsen(draft, Report.MISMATCHED, f"Case {case.id}: {result.explanation}")
        return result


def correctness_cases(task: kernel_pb2.Task) -> list[kernel_pb2.Case]:
    """The cases that are compared with the reference, in order."""
    return [case for case in task.cases if case.kind != kernel_pb2.Case.PERFORMANCE]
