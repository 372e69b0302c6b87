"""The Triton front end: records what the module's host code launches, then compiles exactly that."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

from kernelvault.blobs import Blobs
from kernelvault.replay import occupancy
from kernelvault.replay.models import Model
from kernelvault.replay.triton import program as programs
from kernelvault.sandbox.metering import MeteredSandbox, stage
from kernelvault.v1 import artifact_pb2, compiler_pb2, kernel_pb2, plan_pb2, triton_pb2
from svc_compiler.refusal import Refused
from svc_compiler.stores import check_stores
from svc_compiler.triton import capture, compile, ranking
from svc_compiler.verify.execution import Execution
from svc_compiler.verify.verification import Recorded, Subject, check_plan, is_performance
from svc_compiler.verify.verifier import Report

Stages = compiler_pb2.VerifyCandidateResponse
Program = triton_pb2.TritonProgram
# What a sandbox imports that captures and compiles.
PRELOAD = (*capture.PRELOAD, *compile.PRELOAD)
_MOST_ERRORS = 10


@dataclasses.dataclass(frozen=True)
class TritonFrontend:
    """See `Frontend`."""

    # Started with PRELOAD.
    sandbox: MeteredSandbox
    model: Model
    blobs: Blobs

    async def launch_plans(self, subject: Subject) -> Recorded:
        """Raises Refused, errors.Error."""
        subject.progress(Stages.RECORDING)
        parts: list[Program] = []

        async def record_case(case: kernel_pb2.Case) -> plan_pb2.LaunchPlan:
            captured = await self._capture(subject, case)
            parts.append(captured.program)
            subject.draft.notes.extend(note for note in captured.notes if note not in subject.draft.notes)
            return captured.plan

        recorded = await subject.record(record_case)
        program = capture.merge(parts)
        subject.progress(Stages.COMPILING)
        builds = await self._compile(subject, program, recorded)
        image = _write(subject, program)
        objects = await self._store(builds, image)
        for plan in recorded:
            _complete(plan, program, builds, objects)
        return Recorded(image, recorded)

    async def _capture(self, subject: Subject, case: kernel_pb2.Case) -> capture.Captured:
        """With execution for a correctness case, where host code wants it."""
        work = subject.work
        execution = Execution(self.model, lambda: subject.inputs(case), work.timeout_s)

        async def oracle(plan: plan_pb2.LaunchPlan, program: Program) -> bytes:
            asked = plan_pb2.LaunchPlan()
            asked.CopyFrom(plan)
            _add_cpu_images(asked, program, artifact_pb2.Digest())
            return await execution.answer(asked, _write(subject, program))

        return await capture.capture(
            self.sandbox,
            subject.folder,
            work.main_source,
            case,
            work.task,
            work.action.entry_point,
            work.timeout_s,
            oracle=None if is_performance(case) else oracle,
        )

    async def _compile(
        self, subject: Subject, program: Program, recorded: Sequence[plan_pb2.LaunchPlan]
    ) -> Sequence[compile.TritonBuild]:
        """A build for each target; raises Refused with COMPILE_FAILED where a kernel that a plan needs has none."""
        work, draft = subject.work, subject.draft
        with stage("gpu compile"):
            builds = await compile.compile_targets(
                self.sandbox,
                subject.folder,
                program,
                work.action.targets,
                work.timeout_s,
                alternatives=ranking.alternatives(recorded),
            )
        draft.builds.extend(build.build for build in builds)
        if failed := [build.build for build in builds if program.variants and not build.build.compiled]:
            raise Refused(Report.COMPILE_FAILED, "Compilation failed:\n" + "\n".join(_errors(failed)))
        for plan in recorded:
            ranking.choose(plan, builds)
        draft.compiled_targets.extend(work.action.targets)
        return builds

    async def _store(self, builds: Sequence[compile.TritonBuild], image: Path) -> dict[Path, artifact_pb2.Digest]:
        """The digests of all code objects and of the program, once they are in the blob store."""
        paths = [image, *(path for build in builds for path in build.objects.values())]
        digests = await asyncio.gather(*(self.blobs.put(path.read_bytes()) for path in paths))
        return dict(zip(paths, digests, strict=True))


def _write(subject: Subject, program: Program) -> Path:
    """The file that the interpreter reads a program from."""
    path = subject.folder.parent / "program"
    path.write_bytes(program.SerializeToString(deterministic=True))
    return path


def _complete(
    plan: plan_pb2.LaunchPlan,
    program: Program,
    builds: Sequence[compile.TritonBuild],
    objects: dict[Path, artifact_pb2.Digest],
) -> None:
    """Gives the plan's kernels their images; raises Refused for a plan that breaks a rule."""
    for kernel in plan.kernels:
        check_stores(builds, kernel.name)
        for build in builds:
            image = kernel.images.add()
            image.CopyFrom(build.images[kernel.name])
            image.code_object.CopyFrom(objects[build.objects[kernel.name]])
    cpu = next(digest for path, digest in objects.items() if path.name == "program")
    _add_cpu_images(plan, program, cpu)
    check_plan(plan)


def _add_cpu_images(plan: plan_pb2.LaunchPlan, program: Program, code: artifact_pb2.Digest) -> None:
    variants = {variant.name: variant for variant in program.variants}
    for kernel in plan.kernels:
        variant = variants[kernel.name]
        kernel.images.add(
            target="cpu",
            symbol=kernel.name,
            code_object=code,
            block_threads=occupancy.WAVE_SIZE * variant.options["num_warps"].integer,
            layout=programs.argument_slots(variant),
        )


def _errors(failed: Sequence[compiler_pb2.TargetBuild]) -> Iterator[str]:
    for build in failed:
        errors = [one for one in build.diagnostics if one.level == compiler_pb2.Diagnostic.ERROR]
        for error in errors[:_MOST_ERRORS]:
            where = f"{error.file}:{error.line}: " if error.file else ""
            yield f"{where}{error.message} [{build.target}]"
