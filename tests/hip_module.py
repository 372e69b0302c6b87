"""Python modules that build HIP kernels, for tests: a task, a right module, and its way through the service."""

from __future__ import annotations

from typing import Any

from kernelvault.digest import artifact as _artifact
from kernelvault.v1 import artifact_pb2, compiler_pb2, kernel_pb2
from tests.compiler import Compiler

Report = compiler_pb2.VerificationReport

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


async def verify(
    compiler: Compiler, task: kernel_pb2.Task, source: str, files: dict[str, str] | None = None, **fields: Any
) -> Report:
    """The report on a module, with other files beside it."""
    texts = {"kernel.py": source, **(files or {})}
    return await compiler.verify(task, source, sources=[artifact(*one) for one in texts.items()], **fields)
