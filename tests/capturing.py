"""A Triton candidate's way to its launch plan, for tests: the real sandbox, torch and Triton."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelvault.sandbox import Sandbox
from kernelvault.v1 import kernel_pb2, plan_pb2
from svc_compiler.refusal import Refused
from svc_compiler.triton import capture
from tests.recording import tensor

PREFIX = """
import torch
import triton
import triton.language as tl
"""
ADD = (
    PREFIX
    + """
@triton.jit
def add_kernel(a, b, c, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(c + at, tl.load(a + at, mask=at < n) + tl.load(b + at, mask=at < n), mask=at < n)


def add(a, b, c):
    n = c.numel()
    add_kernel[(triton.cdiv(n, 256),)](a, b, c, n, BLOCK=256)
    return c

"""
)


def function(body: str, before: str = "", signature: str = "a, b") -> str:
    """A module with `add_kernel`, `add` and a `module_fn` of this body."""
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    return f"{ADD}{before}\n\ndef module_fn({signature}):\n{lines}\n"


def case(
    parameters: Sequence[kernel_pb2.Parameter] | None = None, outputs: Sequence[kernel_pb2.Parameter] | None = None
) -> kernel_pb2.Case:
    """Two vectors in and one out, unless told."""
    given = [tensor("a", [1000]), tensor("b", [1000])] if parameters is None else parameters
    return kernel_pb2.Case(id="case", parameters=given, outputs=[tensor("out", [1000])] if outputs is None else outputs)


@dataclass(frozen=True)
class Captures:
    """Makes plans of modules."""

    sandbox: Sandbox
    folder: Path

    async def capture(
        self,
        source: str,
        of: kernel_pb2.Case | None = None,
        *,
        reference: str = "",
        allowed: Sequence[str] = (),
        entry_point: str = "",
        timeout_s: float = 20,
        others: dict[str, str] | None = None,
        **options: Any,
    ) -> capture.Captured:
        """What a module does for a case; raises Refused."""
        folder = Path(tempfile.mkdtemp(dir=self.folder)) / "sources"
        folder.mkdir()
        for name, text in {"kernel.py": source, **(others or {})}.items():
            (folder / name).write_text(text)
        task = kernel_pb2.Task(allowed_operators=allowed)
        task.reference.contents = reference.encode()
        of = case() if of is None else of
        return await capture.capture(self.sandbox, folder, "kernel.py", of, task, entry_point, timeout_s, **options)

    async def plan(self, source: str, *arguments: Any, **options: Any) -> plan_pb2.LaunchPlan:
        """The plan alone."""
        return (await self.capture(source, *arguments, **options)).plan

    async def refusal(self, source: str, *arguments: Any, **options: Any) -> Refused:
        """How a module ends that gets no plan."""
        try:
            captured = await self.capture(source, *arguments, **options)
        except Refused as refused:
            return refused
        raise AssertionError(f"the module was captured:\n{captured.plan}")


def line_of(source: str, text: str) -> int:
    """The line of a source, counted from 1, that holds a text."""
    return next(number for number, line in enumerate(source.splitlines(), 1) if text in line)
