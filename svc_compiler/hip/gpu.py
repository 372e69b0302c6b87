"""The GPU pass: sources to one code object a target, with diagnostics, resources and argument layouts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kernelvault import errors
from kernelvault.sandbox import Limits, Sandbox
from kernelvault.v1 import compiler_pb2, plan_pb2
from svc_compiler import code_object
from svc_compiler.hip import precompiled
from svc_compiler.hip.passes import Pass, run_pass
from svc_compiler.hip.toolchain import PRELUDE, TORCH_HEADERS, Toolchain

_OBJECT = "kernels.co"
_READ_LIMITS = Limits(wall_seconds=30, cpu_seconds=20, output_bytes=16 << 20)
# Headers that bring HIP's runtime. A source without one of them gets the compiler's own word on what is missing.
_BRINGS = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*[<\"](?:hip/hip_runtime\.h|(torch/|ATen/|c10/))", re.MULTILINE)


@dataclass(frozen=True)
class GpuBuild:
    """A candidate compiled for one target."""

    build: compiler_pb2.TargetBuild
    # Absent where it does not compile.
    code_object: Path | None = None
    # By kernel symbol; hidden arguments are left out.
    layouts: dict[str, list[plan_pb2.Image.ArgumentSlot]] = field(default_factory=dict)
    resources: dict[str, plan_pb2.Resources] = field(default_factory=dict)


async def compile_gpu(sandbox: Sandbox, toolchain: Toolchain, folder: Path, source: str, target: str) -> GpuBuild:
    """Compiles `source`, below `folder`, for `target`, all the way to machine code: syntax alone misses too much.

    A source that does not compile is a GpuBuild with diagnostics. Raises Refused where the source probes the place of
    its compilation, errors.Unavailable or errors.Internal for trouble of the platform.
    """
    done = await _compile(sandbox, toolchain, folder, source, target)
    build = compiler_pb2.TargetBuild(target=target, compiled=done.output is not None, diagnostics=done.diagnostics)
    if done.output is None:
        return GpuBuild(build)
    kernels, functions = await _inspect(sandbox, toolchain, done.output)
    whole = code_object.total(function.instructions for function in functions.values())
    layouts, resources = {}, {}
    for kernel in kernels:
        function = functions.get(kernel.name, code_object.Function(kernel.name, {}))
        # What a kernel calls cannot be told apart; it then counts as if it could call all.
        instructions = whole if function.instructions.get("call") else function.instructions
        layouts[kernel.name] = kernel.layout
        resources[kernel.name] = code_object.resources(kernel, target, instructions)
        build.kernels.add(name=kernel.name, display_name=function.display_name, resources=resources[kernel.name])
    return GpuBuild(build, done.output, layouts, resources)


def headers_before(folder: Path) -> tuple[str, ...]:
    """What every pass includes before the sources below `folder`: HIP's runtime and our torch where they ask for it."""
    files = (path for path in folder.rglob("*") if path.is_file() and ".pass-" not in str(path))
    found = [match[1] for path in files for match in _BRINGS.finditer(path.read_bytes())]
    if not found:
        return ()
    return TORCH_HEADERS if any(found) else (PRELUDE,)


async def _compile(sandbox: Sandbox, toolchain: Toolchain, folder: Path, source: str, target: str) -> Pass:
    flags = toolchain.gpu_flags(target)
    headers = headers_before(folder)
    if not headers:
        return await run_pass(sandbox, toolchain, folder, source, [*flags, "-c"], output=_OBJECT)
    header = await precompiled.precompile(sandbox, toolchain, flags, headers)
    first = [*precompiled.use_flags(header), *flags, "-c"]
    done = await run_pass(sandbox, toolchain, folder, source, first, output=_OBJECT)
    if done.output is not None or any(d.file for d in done.diagnostics if d.level == compiler_pb2.Diagnostic.ERROR):
        return done
    # An error without a place: the linker's, or one that SARIF leaves out, such as a damaged precompiled header.
    included = [word for name in headers for word in ("-include", name)]
    plain = [*flags, "-fdiagnostics-format=clang", *included, "-c"]
    again = await run_pass(sandbox, toolchain, folder, source, plain, output=_OBJECT)
    if again.output is not None:
        header.unlink(missing_ok=True)
    return again


async def _inspect(
    sandbox: Sandbox, toolchain: Toolchain, path: Path
) -> tuple[list[code_object.Kernel], dict[str, code_object.Function]]:
    notes = await _read(sandbox, toolchain, path, "llvm-readelf", code_object.READELF)
    text = await _read(sandbox, toolchain, path, "llvm-objdump", code_object.OBJDUMP)
    try:
        return code_object.kernels(notes), code_object.functions(text, code_object.addresses(notes))
    except (ValueError, KeyError) as error:
        raise errors.Internal(
            "CODE_OBJECT_UNREADABLE", f"failed to read the code object {path.name}: {error}"
        ) from error


async def _read(sandbox: Sandbox, toolchain: Toolchain, path: Path, tool: str, options: Sequence[str]) -> str:
    outcome = await toolchain.run(sandbox, path.parent, toolchain.tool(tool), *options, str(path), limits=_READ_LIMITS)
    if not outcome.ok:
        raise errors.Internal("CODE_OBJECT_UNREADABLE", f"failed to run {tool}: {outcome.describe()}")
    return outcome.stdout.decode(errors="replace")
