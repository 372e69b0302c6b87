"""Python modules that build HIP kernels, through the compiler service: each planted fault gets its verdict."""

from __future__ import annotations

import pytest

from kernelvault.digest import artifact as _artifact
from kernelvault.v1 import artifact_pb2, compiler_pb2, kernel_pb2
from tests.compiler import Compiler

Report = compiler_pb2.VerificationReport
Finding = compiler_pb2.Finding
# The compiler's sandboxes import torch and Triton first.
pytestmark = pytest.mark.timeout(300)

ADD = """
import torch

class Model(torch.nn.Module):
    def forward(self, a, b):
        return a + b

def get_inputs(n=1000):
    return [torch.randn(n), torch.randn(n)]

def get_init_inputs():
    return []

def get_cases():
    return [{"id": "one", "n": 1}, {"id": "odd", "n": 777}, {"id": "large", "n": 1 << 22, "kind": "performance"}]
"""
SOURCE = r'''
import os

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

os.environ["CXX"] = "hipcc"

source = r"""
#include <torch/extension.h>
#include <hip/hip_runtime.h>

__global__ void add_kernel(const float* a, const float* b, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}

torch::Tensor add_hip(torch::Tensor a, torch::Tensor b) {
    auto out = torch::empty_like(a);
    int n = a.numel();
    add_kernel<<<(n + 255) / 256, 256>>>(a.data_ptr<float>(), b.data_ptr<float>(), out.data_ptr<float>(), n);
    return out;
}
"""

module = load_inline(
    name="add",
    cpp_sources="torch::Tensor add_hip(torch::Tensor a, torch::Tensor b);",
    cuda_sources=source,
    functions=["add_hip"],
    extra_cflags=["-O3"],
    verbose=True,
    with_cuda=True,
)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.module = module

    def forward(self, a, b):
        return self.module.add_hip(a, b)
'''


def artifact(path: str, text: str) -> artifact_pb2.Artifact:
    """A source with its path."""
    return _artifact(path, text.encode())


def line_of(source: str, text: str) -> str:
    """Where `text` first stands in a source, as a finding says it."""
    return f"kernel.py:{source[: source.index(text)].count(chr(10)) + 1}"


def said(report: Report) -> str:
    """Everything that a report tells its reader."""
    diagnostics = [f"{d.file}:{d.line}: {d.message}" for build in report.builds for d in build.diagnostics]
    return "\n".join([report.explanation, *(f"{f.location}: {f.message}" for f in report.findings), *diagnostics])


@pytest.fixture
async def add(compiler: Compiler) -> kernel_pb2.Task:
    """The task of an addition."""
    return await compiler.prepare(ADD, "add")


async def verify(compiler: Compiler, task: kernel_pb2.Task, source: str) -> Report:
    """The report on a module."""
    return await compiler.verify(task, source, sources=[artifact("kernel.py", source)])


async def test_good_module_passes(compiler: Compiler, add: kernel_pb2.Task) -> None:
    """A right kernel passes, with a plan for each case."""
    report = await verify(compiler, add, SOURCE)
    assert report.verdict == Report.PASSED, said(report)
    plans = {plan.case_id: plan for plan in report.plans}
    assert {"one", "odd", "large"} <= set(plans)
    [launch] = [one.launch for one in plans["large"].operations if one.HasField("launch")]
    assert launch.grid.x == (1 << 22) // 256


async def test_wrong_result(compiler: Compiler, add: kernel_pb2.Task) -> None:
    """A kernel that computes something else is MISMATCHED."""
    report = await verify(compiler, add, SOURCE.replace("a[i] + b[i]", "a[i] - b[i]"))
    assert report.verdict == Report.MISMATCHED, said(report)


async def test_out_of_bounds(compiler: Compiler, add: kernel_pb2.Task) -> None:
    """A write beyond a buffer is UNSAFE, on the line of the Python file."""
    source = SOURCE.replace("if (i < n) out[i]", "out[i]")
    report = await verify(compiler, add, source)
    assert report.verdict == Report.UNSAFE, said(report)
    [finding] = [f for f in report.findings if f.kind == Finding.OUT_OF_BOUNDS][:1]
    assert finding.location == line_of(source, "out[i] = a[i]")


async def test_compile_error(compiler: Compiler, add: kernel_pb2.Task) -> None:
    """A compile error names the line of the Python file, of the source and of what `functions` exports."""
    source = SOURCE.replace("a[i] + b[i]", "a[i] + c[i]")
    report = await verify(compiler, add, source)
    assert report.verdict == Report.COMPILE_FAILED, said(report)
    assert f"{line_of(source, 'a[i] + c[i]')}: use of undeclared identifier 'c'" in said(report)
    source = SOURCE.replace('["add_hip"]', '["add_hpi"]')
    report = await verify(compiler, add, source)
    assert report.verdict == Report.COMPILE_FAILED, said(report)
    assert "undeclared identifier 'add_hpi'" in said(report)
    assert line_of(source, "module = load_inline") in said(report)


async def test_computation_in_python(compiler: Compiler, add: kernel_pb2.Task) -> None:
    """torch's operators on device data are REJECTED, with operator and line."""
    source = SOURCE.replace("add_hip(a, b)\n", "add_hip(a, b) + torch.relu(a)\n")
    report = await verify(compiler, add, source)
    assert report.verdict == Report.REJECTED, said(report)
    assert {f.message for f in report.findings} >= {"`torch.relu` computes outside a kernel"}
    assert {f.location for f in report.findings} == {line_of(source, "return self.module")}


async def test_computation_in_cpp(compiler: Compiler, add: kernel_pb2.Task) -> None:
    """An operator of ATen in C++ is REJECTED by name."""
    source = SOURCE.replace("return out;", "return at::add(out, a);")
    report = await verify(compiler, add, source)
    assert report.verdict == Report.REJECTED, said(report)
    assert [f.message for f in report.findings] == ["`add` computes outside a kernel"]
