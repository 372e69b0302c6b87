"""Precompiled headers: HIP's headers are read once for each set of flags instead of once a candidate."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kernelvault import digest, errors, seal
from kernelvault.sandbox import Sandbox
from svc_compiler.hip.toolchain import Toolchain

# A header that was written again with the same contents, as a new unpacking does, does not invalidate, and it is the
# same file for `#pragma once`, which would go by its time.
_VALIDATE_CONTENTS = "-fpch-validate-input-files-content"
# Templates that the headers use are instantiated here once; they are a third of what is left to a pass otherwise.
_INSTANTIATE = "-fpch-instantiate-templates"
_EMIT = ("-Xclang", "-emit-pch", "-Xclang", "-fno-pch-timestamp", "-fsyntax-only", _VALIDATE_CONTENTS, _INSTANTIATE)


async def precompile(sandbox: Sandbox, toolchain: Toolchain, flags: Sequence[str], headers: Sequence[str]) -> Path:
    """The precompiled form of `headers`, in order, for a pass with exactly `flags`; made where it is not yet there.

    It lies in the tool chain's cache under the digest of all that it depends on. Concurrent makers do no harm: each
    works in a folder of its own and the last one's file, equal to the first one's, stays. Headers with an absolute path
    count with their contents. Raises errors.Internal where the headers do not compile: that is a fault of ours.
    """
    key = digest.of_fields([toolchain.identity, str(toolchain.cache), *_EMIT, *flags, *header_identity(headers)])[:32]
    made = toolchain.cache / f"{key}.pch"
    toolchain.restore_cache()
    if seal.holds(made):
        return made
    # Stays beside the result, which names it.
    source = toolchain.cache / f"{key}.h"
    if not seal.holds(source):
        write_whole(source, "".join(f"#include <{header}>\n" for header in headers))
    folder = Path(tempfile.mkdtemp(dir=toolchain.cache, prefix="build-"))
    try:
        output = ("-Xclang", "-o", "-Xclang", "prelude.pch")
        outcome = await toolchain.run(sandbox, folder, toolchain.tool("clang++"), *flags, *_EMIT, *output, str(source))
        if not outcome.ok:
            raise errors.Internal("PRELUDE_BROKEN", f"failed to precompile {list(headers)}: {outcome.describe()}")
        seal.put(folder / "prelude.pch", made)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return made


def use_flags(precompiled: Path) -> list[str]:
    """Flags that make a pass start from a precompiled header; its other flags are those that it was made with."""
    return ["-Xclang", "-include-pch", "-Xclang", str(precompiled), _VALIDATE_CONTENTS]


def header_identity(headers: Sequence[str]) -> list[str | bytes]:
    """What a digest must cover of `headers`: names, and the contents of those that are not the tool chain's."""
    fields: list[str | bytes] = []
    for header in headers:
        fields += [header, Path(header).read_bytes() if header.startswith("/") else b""]
    return fields


def write_whole(path: Path, text: str) -> None:
    """Writes a sealed file so that no reader ever sees a part of it."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
        file.write(text)
    seal.put(Path(file.name), path)
