"""Fixtures and modules for tests that run references in the real sandbox."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from kernelvault import digest
from kernelvault.replay.reference import References
from kernelvault.sandbox import Sandbox
from kernelvault.v1 import kernel_pb2

SECRET = b"a secret of the tests"
LAYER = """
import torch

class Model(torch.nn.Module):
    def __init__(self, cols, eps):
        super().__init__()
        self.norm = torch.nn.LayerNorm(cols, eps=eps)

    def forward(self, x, scale):
        return self.norm(x) * scale

def get_inputs(rows=4, cols=33, dtype=torch.float32):
    return [torch.randn(rows, cols, dtype=dtype), 1.5]

def get_init_inputs(cols=33):
    return [cols, 1e-5]
"""


def module(forward: str, *, inputs: str = "torch.randn(4, 8)", rest: str = "") -> str:
    """A module whose forward has this body (of `x`)."""
    body = "\n        ".join(forward.splitlines())
    return (
        f"import torch\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        {body}\n\n"
        f"def get_inputs():\n    return [{inputs}]\n\ndef get_init_inputs():\n    return []\n{rest}\n"
    )


def task(source: str, **fields: object) -> kernel_pb2.Task:
    """A task without cases."""
    reference = digest.artifact("reference.py", source.encode())
    return kernel_pb2.Task(title="task", reference=reference, **fields)  # type: ignore[arg-type]


async def described(references: References, source: str, max_cases: int = 10) -> kernel_pb2.Task:
    """A task with its cases."""
    made = task(source)
    cases, _ = await references.describe(made, max_cases=max_cases)
    made.cases.extend(cases)
    return made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def torch_sandbox() -> AsyncIterator[Sandbox]:
    """A sandbox that has torch imported."""
    sandbox = await Sandbox.start(preload=["torch", "kernelvault.replay.reference_child"])
    yield sandbox
    await sandbox.close()


@pytest_asyncio.fixture(loop_scope="module")
async def references(torch_sandbox: Sandbox, tmp_path: Path) -> References:
    """References with an empty cache."""
    return References(torch_sandbox, tmp_path / "cache", SECRET)
