"""Modules with HIP extensions: Python and C++ read the device's true values, and streams last over calls of both."""

from __future__ import annotations

import pytest

from kernelvault.v1 import compiler_pb2, kernel_pb2
from tests.compiler import Compiler
from tests.hip_module import ADD, SOURCE, said, verify

Report = compiler_pb2.VerificationReport
pytestmark = pytest.mark.timeout(300)

_CALL = "return self.module.add_hip(a, b)"
_COUNT = "int n = a.numel();"


@pytest.fixture
async def add(compiler: Compiler) -> kernel_pb2.Task:
    """The task of an addition."""
    return await compiler.prepare(ADD, "add")


async def test_reads_by_python_and_by_an_extension(compiler: Compiler, add: kernel_pb2.Task) -> None:
    """Each read gets the values of its moment: Python's before and after those of C++, memory and module variables."""
    source = SOURCE.replace(
        _CALL,
        "first = a.flatten()[0].item()\n"
        "        c = self.module.add_hip(a, b, first)\n"
        "        last = (c.flatten()[-1].item(), a.flatten()[-1].item() + b.flatten()[-1].item())\n"
        "        assert abs(last[0] - last[1]) < 1e-5, last\n"
        "        return c",
    )
    source = source.replace("torch::Tensor b)", "torch::Tensor b, double first)")
    source = source.replace("__global__", "__device__ int launches;\n__global__").replace(
        "int i =", "launches = 7;\nint i ="
    )
    source = source.replace(
        _COUNT, f'{_COUNT} TORCH_CHECK(a.flatten()[0].item<float>() == (float)first, "not the same");'
    )
    source = source.replace(
        "return out;",
        "int seen; hipMemcpyFromSymbol(&seen, HIP_SYMBOL(launches), 4);\n"
        'TORCH_CHECK(seen == 7, "seen ", seen); return out;',
    )
    report = await verify(compiler, add, source)
    assert report.verdict == Report.PASSED, said(report)
    plans = {plan.case_id: plan for plan in report.plans}
    assert all(plan.data_dependent for plan in plans.values())
    [launch] = plans["odd"].operations
    assert launch.HasField("launch")
    assert plans["odd"].limitations == [
        "host code reads device memory (item)",
        "host code reads device memory (Tensor::item)",
        "host code reads device memory (hipMemcpyFromSymbol)",
    ]
    # Performance cases are not executed: the first read ends them.
    assert not plans["large"].operations


async def test_extension_that_computes_on_the_host(compiler: Compiler, add: kernel_pb2.Task) -> None:
    """C++ that copies an input, computes and sends the result back is REJECTED."""
    source = SOURCE.replace(
        "return out;",
        "std::vector<float> x(n), y(n); hipMemcpy(x.data(), a.data_ptr(), 4 * n, hipMemcpyDeviceToHost);\n"
        "hipMemcpy(y.data(), b.data_ptr(), 4 * n, hipMemcpyDeviceToHost); for (int i = 0; i < n; i++) x[i] += y[i];\n"
        "hipMemcpy(out.data_ptr(), x.data(), 4 * n, hipMemcpyHostToDevice); return out;",
    )
    report = await verify(compiler, add, source)
    assert report.verdict == Report.REJECTED, said(report)
    assert "Not a kernel: host code reads" in report.explanation


@pytest.mark.parametrize("waits", [True, False])
async def test_streams_last_over_calls(compiler: Compiler, add: kernel_pb2.Task, waits: bool) -> None:
    """What one call puts on a stream of its own races with the next call's, unless Python waits in between."""
    between = "torch.cuda.synchronize()" if waits else "pass"
    source = SOURCE.replace(
        _CALL,
        "zero = torch.zeros_like(a)\n"
        "        c = self.module.add_hip(a, b, True)\n"
        f"        {between}\n"
        "        return self.module.add_hip(c, zero, False)",
    )
    source = source.replace("torch::Tensor b)", "torch::Tensor b, bool side)")
    source = source.replace(
        _COUNT,
        f"{_COUNT} hipStream_t stream = nullptr; if (side) hipStreamCreateWithFlags(&stream, hipStreamNonBlocking);",
    ).replace("256>>>", "256, 0, stream>>>")
    report = await verify(compiler, add, source)
    if waits:
        assert report.verdict == Report.PASSED, said(report)
        return
    assert report.verdict == Report.UNSAFE, said(report)
    plan = next(plan for plan in report.plans if plan.case_id == "odd")
    # The fill, the launch on the side, and the one that does not wait for it.
    assert [list(operation.concurrent_with) for operation in plan.operations] == [[], [0], [1]]
