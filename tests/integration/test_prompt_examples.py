"""The kernels that prompts show are real ones."""

from __future__ import annotations

import ast
import os
from pathlib import Path
from typing import Any

import pytest

from kernelvault.sandbox import Sandbox
from kernelvault.v1.compiler_pb2 import VerificationReport
from kernelvault.v1.kernel_pb2 import Candidate
from svc_compiler.hip.gpu import compile_gpu
from svc_compiler.hip.toolchain import Toolchain
from svc_generator.parsing import fenced, read_kernel
from svc_generator.prompts.assemble import page
from tests.compiler import Compiler

TRITON = {"language": Candidate.TRITON, "format": Candidate.TRITON_MODULE}
PREFIX = Path(os.environ.get("KERNELVAULT_TOOLCHAIN", "~/.cache/kernelvault/toolchain"))


@pytest.mark.parametrize(
    ("name", "format_"), [("hip_abi.md", Candidate.HIP_ABI), ("hip_torch.md", Candidate.HIP_TORCH)]
)
async def test_the_hip_examples_compile(name: str, format_: Candidate.Format, tmp_path: Path) -> None:
    """The real compiler takes each example for its GPU, without a warning."""
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "kernel.hip").write_text(read_kernel(page(name), format_).source)
    toolchain = Toolchain.find(PREFIX, tmp_path / "cache")
    sandbox = await Sandbox.start()
    built = await compile_gpu(sandbox, toolchain, folder, "kernel.hip", "gfx942")
    await sandbox.close()
    assert built.build.compiled
    assert not built.build.diagnostics
    assert built.build.kernels


ROWS = """
def get_inputs(rows=4, columns=100, dtype=torch.float32):
    return [torch.randn(rows, columns, dtype=dtype)]

def get_init_inputs():
    return []

def get_cases():
    return [
        {"id": "one", "rows": 1, "columns": 1},
        {"id": "odd", "rows": 5, "columns": 77},
        {"id": "half", "rows": 3, "columns": 1000, "dtype": torch.float16},
        {"id": "long", "rows": 2, "columns": 8999},
        {"id": "large", "rows": 4096, "columns": 4096, "kind": "performance"},
    ]
"""
FLOATS = "".join(line for line in ROWS.splitlines(keepends=True) if "torch.float16" not in line)
PRODUCT = """
def get_inputs(m=5, k=7, n=3):
    return [torch.randn(m, k)]

def get_init_inputs(m=5, k=7, n=3):
    return [k, n]

def get_cases():
    return [
        {"id": "odd", "m": 5, "k": 7, "n": 3},
        {"id": "tiles", "m": 130, "k": 100, "n": 70},
        {"id": "large", "m": 1024, "k": 1024, "n": 1024, "kind": "performance"},
    ]
"""


def examples(name: str, mark: str) -> list[tuple[str, str]]:
    """The modules that a page shows, in order, each with the answer that follows it; `mark` is in every answer."""
    blocks = [block.text for block in fenced(page(name))]
    assert [mark in block for block in blocks] == [False, True] * (len(blocks) // 2)
    return list(zip(blocks[::2], blocks[1::2], strict=True))


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    ("name", "mark", "number", "inputs", "fields"),
    [
        ("hip_abi.md", "__global__", 0, ROWS, {"language": Candidate.HIP, "format": Candidate.HIP_ABI}),
        ("hip_torch.md", "__global__", 0, FLOATS, {"language": Candidate.HIP, "format": Candidate.HIP_TORCH}),
        ("triton_module.md", "@triton.jit", 0, ROWS, TRITON),
        ("triton_module.md", "@triton.jit", 1, PRODUCT, TRITON),
    ],
    ids=["hip-abi", "hip-torch", "softmax", "product"],
)
async def test_an_example_passes(  # noqa: PLR0917 parameters of the test
    compiler: Compiler, name: str, mark: str, number: int, inputs: str, fields: dict[str, Any]
) -> None:
    """The compiler service compiles it for all GPUs without spills, and finds it right for the module beside it."""
    module, source = examples(name, mark)[number]
    task = await compiler.prepare(f"import torch\n\n{module}\n{inputs}", f"example{number}")
    report = await compiler.verify(task, source, targets=["gfx90a", "gfx942", "gfx950"], **fields)
    assert report.verdict == VerificationReport.PASSED, report.explanation
    assert not report.findings
    kernels = [kernel.resources for build in report.builds for kernel in build.kernels]
    assert [kernel.spilled_registers for kernel in kernels] == [0] * len(kernels)
    assert [plan.case_id for plan in report.plans if plan.data_dependent] == []


def test_the_triton_examples_are_whole() -> None:
    """Each example is a module that our own reader takes for a candidate."""
    for _, source in examples("triton_module.md", "@triton.jit"):
        assert read_kernel(f"```python\n{source}\n```", Candidate.TRITON_MODULE).entry_point == ""
        functions = {node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
        assert "module_fn" in functions
