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
from svc_generator.parsing import read_kernel
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


def test_the_triton_example_is_python() -> None:
    """The Triton example parses and defines what its contract says."""
    tree = ast.parse(read_kernel(page("triton_module.md"), Candidate.TRITON_MODULE).source)
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert functions == {"normalise", "module_fn"}
