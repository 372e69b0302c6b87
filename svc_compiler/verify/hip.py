"""The HIP front end: builds everything, then records what host code does."""

from __future__ import annotations

import dataclasses

from kernelvault.replay.models import Model
from kernelvault.sandbox.metering import MeteredSandbox
from kernelvault.v1 import compiler_pb2, kernel_pb2, plan_pb2
from svc_compiler.hip.record import record
from svc_compiler.stores import check_stores
from svc_compiler.verify.build import Built, HipBuilder
from svc_compiler.verify.execution import Execution
from svc_compiler.verify.verification import Recorded, Subject, check_plan, is_performance

Stages = compiler_pb2.VerifyCandidateResponse


@dataclasses.dataclass(frozen=True)
class HipFrontend:
    """See `Frontend`."""

    sandbox: MeteredSandbox
    builder: HipBuilder
    model: Model

    async def launch_plans(self, subject: Subject) -> Recorded:
        """Raises Refused, errors.Error."""
        work = subject.work
        subject.progress(Stages.COMPILING)
        built = await self.builder.build(work, subject.folder, subject.draft)
        subject.draft.compiled_targets.extend(work.action.targets)
        subject.progress(Stages.RECORDING)

        async def record_case(case: kernel_pb2.Case) -> plan_pb2.LaunchPlan:
            return await self._record(subject, built, case)

        return Recorded(built.image.image, await subject.record(record_case))

    async def _record(self, subject: Subject, built: Built, case: kernel_pb2.Case) -> plan_pb2.LaunchPlan:
        """With execution for a correctness case, where host code wants it."""

        work = subject.work
        execution = Execution(self.model, lambda: subject.inputs(case), work.timeout_s)

        async def oracle(plan: plan_pb2.LaunchPlan) -> bytes:
            complete(plan, built)
            return await execution.answer(plan, built.image.image)

        plan = await record(
            self.sandbox,
            built.host,
            case,
            built.layouts,
            built.image.padding,
            work.action.entry_point,
            work.timeout_s,
            target=built.target,
            allowed_operators=work.task.allowed_operators,
            oracle=None if is_performance(case) else oracle,
            named=built.display_name_of,
        )
        if not (plan.data_dependent and is_performance(case)):
            complete(plan, built)
        return plan


def complete(plan: plan_pb2.LaunchPlan, built: Built) -> None:
    """Gives the plan's kernels their images; raises Refused for a plan that breaks a rule."""
    for kernel in plan.kernels:
        check_stores(built.gpu, kernel.name)
        kernel.display_name = built.display_name_of(kernel.name)
        kernel.images.extend(built.images_of(kernel.name))
    check_plan(plan)
