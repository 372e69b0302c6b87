"""The CPU model's runtime as an object: compiled once a tool chain, linked into every image."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from kernelvault import digest, errors, replay, seal
from kernelvault.sandbox import Sandbox
from svc_compiler.hip.meaning import CPU_FIRST
from svc_compiler.hip.precompiled import write_whole
from svc_compiler.hip.toolchain import Toolchain

FOLDER = Path(replay.__file__).parent / "runtime"
_FLAGS = (
    *("-c", "-fvisibility=hidden", "-fno-exceptions", "-fno-rtti", "-fno-math-errno", "-ffp-contract=fast"),
    *("-Wall", "-Wextra", "-Wno-unknown-pragmas"),
)
# What device code may call of the runtime; its own entry points (kv_...) are none of its business.
_FOR_KERNELS = re.compile(r"__builtin_amdgcn_\w+|__ockl_\w+|__ocml_\w+|kvd_\w+|__trunc\w+|printf|puts|putchar")
# What the compiler makes of intrinsics: the C library has them.
_LIBRARY = {"memcpy", "memmove", "memset", "memcmp", "bcmp", "strlen"} | {
    name + suffix
    for name in (
        *("acos", "asin", "atan", "atan2", "cbrt", "ceil", "copysign", "cos", "cosh", "erf", "erfc", "exp", "exp10"),
        *("exp2", "expm1", "fabs", "floor", "fma", "fmax", "fmin", "fmod", "frexp", "hypot", "ldexp", "log", "log10"),
        *("log1p", "log2", "modf", "nearbyint", "pow", "rint", "round", "roundeven", "sin", "sincos", "sinh", "sqrt"),
        *("tan", "tanh", "tgamma", "lgamma", "trunc", "acosh", "asinh", "atanh", "fdim", "ilogb", "llrint", "llround"),
        *("logb", "lrint", "lround", "nextafter", "remainder", "remquo", "scalbn", "j0", "j1", "y0", "y1"),
    )
    for suffix in ("", "f")
}
# Weak objects of AMD's headers whose members are calls of the runtime.
_UNUSED = {"threadIdx", "blockIdx", "blockDim", "gridDim"}


@dataclass(frozen=True)
class Runtime:
    """One relocatable object, and the names that device code may want of it or of the C library."""

    object: Path
    names: frozenset[str]


def builtins_header(toolchain: Toolchain) -> Path:
    """`amdgcn.h` where every sandboxed pass can read it: in the tool chain's cache, under its digest."""
    text = (FOLDER / "amdgcn.h").read_text()
    path = toolchain.cache / f"amdgcn-{digest.of_fields([text])[:32]}.h"
    toolchain.restore_cache()
    if not seal.holds(path):
        write_whole(path, text)
    return path


def cpu_first(toolchain: Toolchain) -> tuple[str, ...]:
    """What the CPU pass includes before all else; `meaning.check` must know of it."""
    return (str(builtins_header(toolchain)), *CPU_FIRST)


async def build(sandbox: Sandbox, toolchain: Toolchain) -> Runtime:
    """The runtime for this tool chain, compiled where it is not yet in its cache.

    Raises errors.Internal where it does not compile: that is a fault of ours.
    """
    sources = sorted(FOLDER.glob("*.cpp"))
    contents = [path.read_bytes() for path in [*sources, *sorted(FOLDER.glob("*.h"))]]
    key = digest.of_fields([toolchain.identity, *toolchain.native_flags(), *_FLAGS, *contents])[:32]
    made, names = (toolchain.cache / f"runtime-{key}.{suffix}" for suffix in ("o", "names"))
    if not (seal.holds(names) and seal.holds(made)):
        folder = Path(tempfile.mkdtemp(dir=toolchain.cache, prefix="build-"))
        try:
            await _compile(sandbox, toolchain, folder, sources)
            defined = await _run(
                sandbox, toolchain, folder, "llvm-nm", "--defined-only", "--format=just-symbols", "runtime.o"
            )
            seal.put(folder / "runtime.o", made)
            write_whole(names, "\n".join(sorted(set(defined.split()))))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    own = {name for name in names.read_text().split() if _FOR_KERNELS.fullmatch(name)}
    return Runtime(made, frozenset(own | _LIBRARY | _UNUSED))


async def _compile(sandbox: Sandbox, toolchain: Toolchain, folder: Path, sources: list[Path]) -> None:
    flags = [*toolchain.native_flags(), *_FLAGS]
    limit = asyncio.Semaphore(os.cpu_count() or 1)

    async def one(path: Path) -> None:
        async with limit:
            await _run(sandbox, toolchain, folder, "clang++", *flags, str(path), "-o", f"{path.stem}.o")

    await asyncio.gather(*(one(path) for path in sources))
    objects = [f"{path.stem}.o" for path in sources]
    await _run(sandbox, toolchain, folder, "ld.lld", "-r", "-o", "runtime.o", *objects)


async def _run(sandbox: Sandbox, toolchain: Toolchain, folder: Path, tool: str, *arguments: str) -> str:
    outcome = await toolchain.run(sandbox, folder, toolchain.tool(tool), *arguments, readable=(FOLDER,))
    if not outcome.ok:
        raise errors.Internal("RUNTIME_BROKEN", f"failed to build the CPU model's runtime: {outcome.describe()}")
    return outcome.stdout.decode()
