"""The recorder as a shared object: a HIP runtime that writes down what host code asks for and executes none of it."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from kernelvault import digest, errors, seal
from kernelvault.sandbox import Sandbox
from svc_compiler.hip import precompiled
from svc_compiler.hip.toolchain import TORCH_HEADERS, Toolchain

SOURCES = Path(__file__).parent / "recorder"


async def build_recorder(sandbox: Sandbox, toolchain: Toolchain) -> Path:
    """`recorder.so` in the tool chain's cache, under the digest of its sources; made where it is not yet there.

    Raises errors.Internal where it does not compile: that is a fault of ours.
    """
    sources = sorted(SOURCES.glob("*.cpp"))
    contents: list[str | bytes] = [path.read_bytes() for path in sorted(SOURCES.iterdir()) if path.is_file()]
    key = digest.of_fields([toolchain.identity, str(toolchain.cache), *contents])[:32]
    made = toolchain.cache / f"{key}.recorder.so"
    if seal.holds(made):
        return made
    # Unlike a candidate it has many translation units: each takes an identity of its own.
    flags = [flag for flag in toolchain.host_flags() if not flag.startswith("-cuid=")]
    header = await precompiled.precompile(sandbox, toolchain, flags, TORCH_HEADERS)
    folder = Path(tempfile.mkdtemp(dir=toolchain.cache, prefix="build-"))
    try:
        compile_ = [*flags, *precompiled.use_flags(header), "-c", *map(str, sources)]
        await _run(sandbox, toolchain, folder, compile_)
        objects = [path.with_suffix(".o").name for path in sources]
        await _run(sandbox, toolchain, folder, [*toolchain.link_flags(), *objects, "-o", "recorder.so"])
        seal.put(folder / "recorder.so", made)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return made


async def _run(sandbox: Sandbox, toolchain: Toolchain, folder: Path, arguments: list[str]) -> None:
    outcome = await toolchain.run(sandbox, folder, toolchain.tool("clang++"), *arguments, readable=(SOURCES,))
    if not outcome.ok:
        raise errors.Internal("RECORDER_BROKEN", f"failed to build the recorder: {outcome.describe()}")
