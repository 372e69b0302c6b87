"""Triton modules whose host code does more than launch, through the compiler service."""

from __future__ import annotations

import pytest

from kernelvault.v1 import compiler_pb2, plan_pb2
from tests.compiler import Compiler

Report = compiler_pb2.VerificationReport
# The compiler's sandboxes import torch and Triton first.
pytestmark = pytest.mark.timeout(300)
HEAD = "import torch\nimport triton\nimport triton.language as tl\n"
LINEAR = """
import torch

class Model(torch.nn.Module):
    def __init__(self, features, outputs, scale):
        super().__init__()
        self.linear = torch.nn.Linear(features, outputs)
        self.register_buffer("shift", torch.randn(outputs))
        self.scale = scale

    def forward(self, x, alpha):
        return self.linear(x) * (self.scale * alpha) + self.shift

def get_inputs(rows=4, features=16, dtype=torch.float32):
    return [torch.randn(rows, features, dtype=dtype), 0.5]

def get_init_inputs(features=16):
    return [features, 24, 3.0]

def get_cases():
    return [
        {"id": "small"},
        {"id": "half", "rows": 3, "features": 32, "dtype": torch.float16},
        {"id": "large", "rows": 512, "features": 4096, "kind": "performance"},
    ]
"""
LINEAR_NEW = (
    HEAD
    + """
@triton.jit
def linear_kernel(x, w, bias, shift, out, features, outputs, factor, OUTPUTS: tl.constexpr, FEATURES: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, OUTPUTS)
    mask = columns < outputs
    total = tl.zeros([OUTPUTS], dtype=tl.float32)
    for i in range(features):
        total += tl.load(x + row * features + i).to(tl.float32) * tl.load(w + i * outputs + columns, mask=mask)
    y = (total + tl.load(bias + columns, mask=mask)) * factor + tl.load(shift + columns, mask=mask)
    tl.store(out + row * outputs + columns, y, mask=mask)


class ModelNew(torch.nn.Module):
    def __init__(self, features, outputs, scale):
        super().__init__()
        self.linear = torch.nn.Linear(features, outputs)
        self.register_buffer("shift", torch.randn(outputs))
        self.scale = scale
        self.transposed = self.linear.weight.detach().t().contiguous()

    def forward(self, x, alpha):
        x = x.contiguous()
        rows, features = x.shape
        outputs = self.linear.out_features
        out = torch.empty(rows, outputs, device=x.device, dtype=x.dtype)
        linear_kernel[(rows,)](
            x, self.transposed, self.linear.bias, self.shift, out, features, outputs, self.scale * alpha,
            OUTPUTS=triton.next_power_of_2(outputs), FEATURES=features,
        )
        return out
"""
)


def said(report: Report) -> str:
    """Everything that a report tells its reader."""
    return "\n".join([report.explanation, *(f"{f.location}: {f.message}" for f in report.findings)])


async def test_a_model_with_weights_passes(compiler: Compiler) -> None:
    """Weights are bound by name in each case's dtype; what is made of them at the start is not part of the call."""
    task = await compiler.prepare(LINEAR, "linear")
    report = await compiler.verify(task, LINEAR_NEW)
    assert report.verdict == Report.PASSED, said(report)
    plan = next(plan for plan in report.plans if plan.case_id == "large")
    phases = [(operation.phase, operation.WhichOneof("operation")) for operation in plan.operations]
    assert phases == [(plan_pb2.Operation.INIT, "convert"), (plan_pb2.Operation.CALL, "launch")]


async def test_stale_weights_are_a_mismatch(compiler: Compiler) -> None:
    """The right kernel with a wrong use of the weights does not pass."""
    task = await compiler.prepare(LINEAR, "linear")
    report = await compiler.verify(task, LINEAR_NEW.replace(".t().contiguous()", ".contiguous()"))
    assert report.verdict == Report.MISMATCHED, said(report)


COMPACT = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return torch.where(x > 0, x * 2, torch.zeros_like(x))

def get_inputs(count=500):
    return [torch.randn(count)]

def get_init_inputs():
    return []

def get_cases():
    return [{"id": "one"}, {"id": "odd", "count": 77}]
"""
COMPACT_KERNELS = """
@triton.jit
def count_kernel(x, count, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n, other=0.0)
    tl.store(count, tl.sum((value > 0).to(tl.int32), axis=0))


@triton.jit
def double_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n, other=0.0)
    tl.store(out + at, tl.where(value > 0, value * 2, 0.0), mask=at < n)
"""


async def test_host_code_decides_by_what_it_reads(compiler: Compiler) -> None:
    """A count that a kernel made is the true one when host code reads it; the plan holds for its inputs only."""
    wrapper = """
def module_fn(x):
    count = torch.empty(1, dtype=torch.int32, device=x.device)
    count_kernel[(1,)](x, count, x.numel(), BLOCK=512)
    out = torch.zeros_like(x)
    if count.item() > 0:
        double_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out
"""
    task = await compiler.prepare(COMPACT, "compact")
    report = await compiler.verify(task, HEAD + COMPACT_KERNELS + wrapper)
    assert report.verdict == Report.PASSED, said(report)
    assert all(plan.data_dependent for plan in report.plans)
    assert list(report.plans[0].limitations) == ["host code reads device memory (item)"]


async def test_host_code_does_not_compute_results(compiler: Compiler) -> None:
    """A wrapper that takes the inputs to the host and sends a result back is REJECTED."""
    wrapper = """
def module_fn(x):
    count_kernel[(1,)](x, torch.empty(1, dtype=torch.int32, device=x.device), x.numel(), BLOCK=512)
    host = x.cpu()
    return torch.where(host > 0, host * 2, torch.zeros_like(host)).cuda()
"""
    task = await compiler.prepare(COMPACT, "compact")
    report = await compiler.verify(task, HEAD + COMPACT_KERNELS + wrapper)
    assert report.verdict == Report.REJECTED, said(report)
    assert "and then sends" in report.explanation
