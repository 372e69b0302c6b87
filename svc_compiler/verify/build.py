"""Everything that is compiled for a candidate: code objects, host code, CPU image."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence
from pathlib import Path

from kernelvault.blobs import Blobs
from kernelvault.sandbox.metering import MeteredSandbox, stage
from kernelvault.together import ended, together
from kernelvault.v1 import artifact_pb2, compiler_pb2, plan_pb2
from svc_compiler.actions import Work
from svc_compiler.hip import gpu, host, host_symbols, image, meaning, runtime
from svc_compiler.hip.gpu import GpuBuild
from svc_compiler.hip.toolchain import Toolchain
from svc_compiler.refusal import Refused

Report = compiler_pb2.VerificationReport
_PREFERRED = "gfx942"


@dataclasses.dataclass(frozen=True)
class Built:
    """What later stages need of the compiled candidate."""

    gpu: list[GpuBuild]
    host: host.HostBuild
    image: image.ImageBuild
    # The build of the target that the CPU model is for this candidate.
    modelled: GpuBuild
    # Code object or image by target.
    objects: dict[str, artifact_pb2.Digest]

    @property
    def target(self) -> str:
        """What the CPU model is."""
        return self.modelled.build.target

    @property
    def layouts(self) -> dict[str, list[plan_pb2.Image.ArgumentSlot]]:
        """Argument slots by kernel symbol, without hidden arguments."""
        return self.modelled.layouts

    def display_name_of(self, kernel: str) -> str:
        """A kernel's name as its author would write it."""
        return next((k.display_name for k in self.modelled.build.kernels if k.name == kernel), kernel)

    def images_of(self, kernel: str) -> list[plan_pb2.Image]:
        """One image for each target that holds the kernel, the CPU model last."""
        images = [
            plan_pb2.Image(
                target=build.build.target,
                code_object=self.objects[build.build.target],
                symbol=kernel,
                resources=build.resources[kernel],
                layout=build.layouts[kernel],
            )
            for build in self.gpu
            if kernel in build.layouts
        ]
        cpu = plan_pb2.Image(target="cpu", code_object=self.objects["cpu"], symbol=kernel, layout=self.layouts[kernel])
        return [*images, cpu]


class HipBuilder:
    """Compiles HIP candidates, all passes side by side."""

    def __init__(self, sandbox: MeteredSandbox, toolchain: Toolchain, blobs: Blobs) -> None:
        self._sandbox = sandbox
        self._toolchain = toolchain
        self._blobs = blobs

    async def build(self, work: Work, folder: Path, draft: Report, *, source: str = "") -> Built:
        """Compiles `source` below `folder`, or else the candidate's own.

        Fills in `draft.builds`; raises Refused with COMPILE_FAILED, REJECTED or NEEDS_DEVICE.
        """
        source = source or work.main_source
        draft.modelled_target = modelled_target(work.action.targets)
        with stage("gpu compile"):
            compiling = asyncio.create_task(self._compile_targets(work, folder, draft, source))
        with stage("host compile"):
            hosting = asyncio.create_task(
                host.build_host(self._sandbox, self._toolchain, folder, source, work.action.format)
            )
        with stage("cpu image"):
            imaging = asyncio.create_task(self._image(folder, source, draft.modelled_target, compiling))
        try:
            # The compiler's own word first, then that of the host pass: what their author got wrong explains more.
            builds = await compiling
            built_host = await hosting
            built_image = await imaging
        finally:
            await ended(compiling, hosting, imaging)
        objects = await self._store(builds, built_image)
        return Built(builds, built_host, built_image, _modelled(builds, draft.modelled_target), objects)

    async def _compile_targets(self, work: Work, folder: Path, draft: Report, source: str) -> list[GpuBuild]:
        builds = await together(
            *(gpu.compile_gpu(self._sandbox, self._toolchain, folder, source, target) for target in work.action.targets)
        )
        draft.builds.extend(build.build for build in builds)
        failed = [build for build in builds if not build.build.compiled]
        if failed:
            # Every target's diagnostics are in the draft already.
            if refused := host_symbols.lacking(failed[0].build.diagnostics):
                raise refused
            raise Refused(Report.COMPILE_FAILED, _first_errors(failed))
        if not _modelled(builds, draft.modelled_target).layouts:
            raise Refused(Report.REJECTED, "The sources define no kernel (`__global__` function).")
        return builds

    async def _image(
        self, folder: Path, source: str, target: str, compiling: asyncio.Task[list[GpuBuild]]
    ) -> image.ImageBuild:
        cpu_first = runtime.cpu_first(self._toolchain)
        await meaning.check(
            self._sandbox,
            self._toolchain,
            folder,
            source,
            target,
            cpu_first=cpu_first,
            cpu_readable=(Path(cpu_first[0]),),
        )
        module = await image.compile_device(self._sandbox, self._toolchain, folder, source, target=target)
        layouts = _modelled(await asyncio.shield(compiling), target).layouts
        return await image.build_image(self._sandbox, self._toolchain, folder, module, layouts)

    async def _store(self, builds: list[GpuBuild], built: image.ImageBuild) -> dict[str, artifact_pb2.Digest]:
        paths = {build.build.target: build.code_object for build in builds if build.code_object} | {"cpu": built.image}
        digests = await asyncio.gather(*(self._blobs.put(path.read_bytes()) for path in paths.values()))
        return dict(zip(paths, digests, strict=True))


def _modelled(builds: Sequence[GpuBuild], target: str) -> GpuBuild:
    return next(build for build in builds if build.build.target == target)


def modelled_target(targets: Sequence[str]) -> str:
    """The target that the CPU model is for a candidate of `targets`: gfx942 where that is asked, else the newest."""
    return _PREFERRED if _PREFERRED in targets else max(targets)


def _first_errors(failed: list[GpuBuild], most: int = 5) -> str:
    lines = []
    for build in failed:
        errors = [d for d in build.build.diagnostics if d.level == compiler_pb2.Diagnostic.ERROR]
        lines += [f"{d.file}:{d.line}:{d.column}: {d.message} [{build.build.target}]" for d in errors[:most]]
    return "Compilation failed:\n" + "\n".join(lines[: 2 * most])
