"""A script's Triton functions: those that a program can hold, and the others, which are compiled where they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import triton
from triton import knobs
from triton.compiler import ASTSource
from triton.runtime.jit import JITFunction

from kernelvault import devices
from kernelvault.replay.triton import program as programs
from svc_compiler.triton import complaints, warm
from svc_compiler.triton.functions import Functions, Specialisation
from svc_compiler.triton.recording import NotCompilable, Unplannable

_CACHE = "cache"


class ScriptFunctions(Functions):
    """Functions whose arguments or globals have no form in a program, such as a tensor descriptor or a helper of
    another library, are compiled in the script's own process: nobody else has what they refer to.
    """

    def __init__(self, sources: Path, targets: Sequence[str]) -> None:
        super().__init__(sources)
        self._targets = targets
        # Kernel, why it is here, and for each target what is wrong: message, file, line.
        self.own: list[dict[str, Any]] = []

    def variant(self, function: JITFunction[Any], asked: Specialisation, defaults: Mapping[str, Any]) -> int:
        """The index of a variant in the program; from -1 downwards one of `own`."""
        try:
            return super().variant(function, asked, defaults)
        except (Unplannable, NotCompilable) as error:
            why = str(error)
        self._open.clear()
        given = {name: asked.options[name] for name in programs.OPTIONS if name in asked.options}
        source = ASTSource(function, asked.signature, asked.constants, asked.attributes)
        faults = {target: _fault(function, source, target, given) for target in self._targets}
        self.own.append({"kernel": function.fn.__name__, "why": why, "faults": faults})
        return -len(self.own)


def _fault(function: JITFunction[Any], source: ASTSource, target: str, options: dict[str, Any]) -> list[Any]:
    """What is wrong with a kernel for a target: message, file, line; nothing for one that compiles."""
    # The one that the process inherited is not its own.
    knobs.cache.dir = str(Path(_CACHE).absolute())
    try:
        with torch._C.DisableTorchFunction():
            metadata = triton.compile(source, target=warm.gpu_target(target), options=options).metadata
    except Exception as error:
        [first, *_] = complaints.of_failure(error, [function], function, "").diagnostics
        return [first.message, first.file, first.line]
    most = devices.lds_bytes(target)
    return (
        [f"the kernel takes {metadata.shared} bytes of LDS; there are {most}", "", 0] if metadata.shared > most else []
    )
