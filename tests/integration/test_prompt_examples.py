"""The kernels that prompts show are real ones."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

from kernelvault.sandbox import Sandbox
from kernelvault.v1.kernel_pb2 import Candidate
from svc_compiler.hip.gpu import compile_gpu
from svc_compiler.hip.toolchain import Toolchain
from svc_generator.parsing import fenced, read_kernel
from svc_generator.prompts.assemble import page

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


def triton_examples() -> list[str]:
    """The modules that the Triton page shows, in order."""
    return [block.text for block in fenced(page("triton_module.md")) if "@triton.jit" in block.text]


def test_the_triton_examples_are_whole() -> None:
    """Each example is a module that our own reader takes for a candidate."""
    assert len(triton_examples()) == 2
    for source in triton_examples():
        assert read_kernel(f"```python\n{source}\n```", Candidate.TRITON_MODULE).entry_point == ""
        functions = {node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
        assert "module_fn" in functions
