"""Takes single kernels out of sources and puts others in, a few at once."""

from __future__ import annotations

import asyncio
import dataclasses
import tempfile
from pathlib import Path

from kernelvault import digest, errors
from kernelvault.admission import Admission
from kernelvault.sandbox import Sandbox
from kernelvault.v1 import artifact_pb2, compiler_pb2
from svc_compiler.hip import declarations, gpu, precompiled, splice
from svc_compiler.hip.declarations import Declaration
from svc_compiler.hip.passes import Pass, run_pass
from svc_compiler.hip.toolchain import COMPILE_LIMITS, TARGETS, Toolchain
from svc_compiler.refusal import Refused

_DEFAULT_TARGET = "gfx942"
_LIMITS = dataclasses.replace(COMPILE_LIMITS, output_bytes=declarations.MOST_BYTES)


class _NotCompiled(Exception):
    """clang finds errors in a source; the message says which."""


class KernelSplicer:
    """Answers `ExtractKernel` and `SpliceKernel`; both raise errors.Error as compiler.proto says."""

    def __init__(self, sandbox: Sandbox, toolchain: Toolchain, scratch: Path, *, workers: int, queue_size: int) -> None:
        self._sandbox = sandbox
        self._toolchain = toolchain
        self._scratch = scratch
        self._admission = Admission("splices", workers=workers, queue_size=queue_size, seconds_each=1.0)

    async def extract(self, request: compiler_pb2.ExtractKernelRequest) -> compiler_pb2.ExtractKernelResponse:
        """The kernel that a request names, as it stands in its source."""
        source, target = _checked(request)
        async with self._admission.turn():
            found = splice.kernels(await self._parsed(source, target))
        kernel = splice.find(source.contents, found, request.kernel)
        unique = sum(one.declaration.name == kernel.declaration.name for one in found) == 1
        return compiler_pb2.ExtractKernelResponse(kernel=splice.definition(source.contents, kernel, unique=unique))

    async def splice(self, request: compiler_pb2.SpliceKernelRequest) -> compiler_pb2.SpliceKernelResponse:
        """The source with another kernel, or why that cannot be."""
        source, target = _checked(request)
        async with self._admission.turn():
            before = await self._parsed(source, target)
            kernel = splice.find(source.contents, splice.kernels(before), request.kernel)
            contents = splice.replace(source.contents, kernel, request.replacement)
            if len(contents) > digest.INLINE_LIMIT_BYTES:
                return compiler_pb2.SpliceKernelResponse(refusal="the source with it is above 1 MiB")
            spliced = digest.artifact(source.path, contents)
            try:
                after = await self._declarations(spliced, target)
            except _NotCompiled:
                return compiler_pb2.SpliceKernelResponse(source=spliced)
            except (Refused, declarations.TooComplex) as error:
                return compiler_pb2.SpliceKernelResponse(refusal=str(error))
        length = len(contents) - len(source.contents) + kernel.declaration.end - kernel.declaration.begin
        refusal = splice.why_refused(before, kernel, after, length)
        return compiler_pb2.SpliceKernelResponse(**({"refusal": refusal} if refusal else {"source": spliced}))

    async def _parsed(self, source: artifact_pb2.Artifact, target: str) -> list[Declaration]:
        """The declarations of a source that must compile."""
        try:
            return await self._declarations(source, target)
        except _NotCompiled as error:
            raise errors.FailedPrecondition("NOT_COMPILED", f"{source.path} does not compile: {error}") from error
        except Refused as error:
            raise errors.FailedPrecondition("NOT_COMPILED", error.explanation) from error
        except declarations.TooComplex as error:
            raise errors.FailedPrecondition("TOO_COMPLEX", f"{source.path} cannot be taken apart: {error}") from error

    async def _declarations(self, source: artifact_pb2.Artifact, target: str) -> list[Declaration]:
        """Raises _NotCompiled, Refused, declarations.TooComplex."""
        self._scratch.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self._scratch, prefix="splice-") as place:
            folder = Path(place)
            (folder / source.path).parent.mkdir(parents=True, exist_ok=True)
            (folder / source.path).write_bytes(source.contents)
            done = await self._parse(folder, source.path, target)
        if not done.outcome.ok:
            first = next(one for one in done.diagnostics if one.level == compiler_pb2.Diagnostic.ERROR)
            raise _NotCompiled(f"{first.file}:{first.line}: {first.message}" if first.file else first.message)
        return await asyncio.to_thread(declarations.read, done.outcome.stdout)

    async def _parse(self, folder: Path, path: str, target: str) -> Pass:
        flags = self._toolchain.gpu_flags(target)
        first: list[str] = []
        if headers := gpu.headers_before(folder):
            header = await precompiled.precompile(self._sandbox, self._toolchain, flags, headers)
            first = precompiled.use_flags(header)
        every = [*first, *flags, *declarations.FLAGS]
        return await run_pass(self._sandbox, self._toolchain, folder, path, every, output="tree", limits=_LIMITS)


def _checked(
    request: compiler_pb2.ExtractKernelRequest | compiler_pb2.SpliceKernelRequest,
) -> tuple[artifact_pb2.Artifact, str]:
    """The source and the target of a request; raises InvalidArgument."""
    if not request.kernel.strip():
        raise errors.InvalidArgument("kernel", "is empty; name a `__global__` function of the source")
    if request.target and request.target not in TARGETS:
        raise errors.InvalidArgument(
            "target", f"{request.target[:40]!r} is unknown; choose from {', '.join(TARGETS)}", "UNKNOWN_TARGET"
        )
    return digest.check_artifact(request.source, "source"), request.target or _DEFAULT_TARGET
