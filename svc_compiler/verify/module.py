"""The front end of Python modules with HIP extensions: collects what they load, builds it, captures what they do."""

from __future__ import annotations

import dataclasses

from kernelvault.replay.models import Model
from kernelvault.sandbox.metering import MeteredSandbox, stage
from kernelvault.v1 import compiler_pb2, kernel_pb2, plan_pb2
from svc_compiler.module import capture, source
from svc_compiler.module.capture import PRELOAD, Library, Module
from svc_compiler.verify.build import Built, HipBuilder
from svc_compiler.verify.execution import Execution
from svc_compiler.verify.hip import complete
from svc_compiler.verify.verification import Recorded, Subject, is_performance

__all__ = ["PRELOAD", "ModuleFrontend"]

Stages = compiler_pb2.VerifyCandidateResponse


@dataclasses.dataclass(frozen=True)
class ModuleFrontend:
    """See `Frontend`."""

    # Started with PRELOAD and that of Triton's.
    sandbox: MeteredSandbox
    builder: HipBuilder
    model: Model

    async def launch_plans(self, subject: Subject) -> Recorded:
        """Raises Refused, errors.Error."""
        work = subject.work
        subject.progress(Stages.RECORDING)
        module = Module(
            folder=subject.folder,
            sources={one.path: one.contents for one in work.action.sources},
            main=work.main_source,
            task=work.task,
            entry_point=work.action.entry_point,
        )
        with stage("record"):
            first = min(work.task.cases, key=is_performance)
            extensions = await capture.collect(self.sandbox, module, first, work.timeout_s)
        python = {path: contents.decode(errors="replace") for path, contents in module.sources.items()}
        source.write(extensions, subject.folder, python)
        subject.progress(Stages.COMPILING)
        built = await self.builder.build(work, subject.folder, subject.draft, source=source.NAME)
        subject.draft.compiled_targets.extend(work.action.targets)
        subject.progress(Stages.RECORDING)
        library = Library(
            host=built.host,
            extensions=extensions,
            layouts=built.layouts,
            padding=built.image.padding,
            target=built.target,
        )

        async def record_case(case: kernel_pb2.Case) -> plan_pb2.LaunchPlan:
            return await self._record(subject, module, library, built, case)

        return Recorded(built.image.image, await subject.record(record_case))

    async def _record(
        self, subject: Subject, module: Module, library: Library, built: Built, case: kernel_pb2.Case
    ) -> plan_pb2.LaunchPlan:
        """With execution for a correctness case, where Python wants it."""
        work = subject.work
        execution = Execution(self.model, lambda: subject.inputs(case), work.timeout_s)

        async def oracle(plan: plan_pb2.LaunchPlan) -> bytes:
            complete(plan, built)
            return await execution.answer(plan, built.image.image)

        plan, notes = await capture.capture(
            self.sandbox,
            module,
            library,
            case,
            work.timeout_s,
            oracle=None if is_performance(case) else oracle,
            named=built.display_name_of,
        )
        subject.draft.notes.extend(note for note in notes if note not in subject.draft.notes)
        if not (plan.data_dependent and is_performance(case)):
            complete(plan, built)
        return plan
