"""Python modules that build HIP kernels, through the compiler service: each planted fault gets its verdict."""

from __future__ import annotations

from typing import Any

import pytest

from kernelvault.v1 import compiler_pb2, kernel_pb2
from tests.compiler import Compiler
from tests.hip_module import ADD, SOURCE, line_of, said, verify

Report = compiler_pb2.VerificationReport
Finding = compiler_pb2.Finding
# The compiler's sandboxes import torch and Triton first.
pytestmark = pytest.mark.timeout(300)


@pytest.fixture
async def add(compiler: Compiler) -> kernel_pb2.Task:
    """The task of an addition."""
    return await compiler.prepare(ADD, "add")


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


async def test_host_access_in_cpp(compiler: Compiler, add: kernel_pb2.Task) -> None:
    """C++ that touches device memory is REJECTED, though torch is in its process."""
    source = SOURCE.replace("return out;", "out.data_ptr<float>()[0] = a.data_ptr<float>()[0]; return out;")
    report = await verify(compiler, add, source)
    assert report.verdict == Report.REJECTED, said(report)
    assert [f.kind for f in report.findings] == [Finding.HOST_ACCESS]


async def test_exceptions_cross_into_python(compiler: Compiler, add: kernel_pb2.Task) -> None:
    """What C++ throws is a RuntimeError in Python, and CRASHED with the author's line where nobody catches it."""
    source = SOURCE.replace("int n = a.numel();", 'int n = a.numel(); TORCH_CHECK(n > 1, "too few: ", n);')
    report = await verify(compiler, add, source)
    assert report.verdict == Report.CRASHED, said(report)
    line = line_of(source, "return self.module.add_hip")
    check = line_of(source, "int n = a.numel()")
    assert report.explanation == f"Host code threw an exception: {line}: RuntimeError: too few: 1 (at {check})"


async def test_state_between_calls(compiler: Compiler, add: kernel_pb2.Task) -> None:
    """C++ that works in its first call only keeps state."""
    source = SOURCE.replace("int n = a.numel();", "static torch::Tensor kept; if (kept.defined()) return kept;")
    source = source.replace("return out;", "kept = out; return out;").replace(
        "add_kernel<<<", "int n = 1; add_kernel<<<"
    )
    report = await verify(compiler, add, source)
    assert report.verdict == Report.REJECTED, said(report)
    assert "keeps state between calls" in report.explanation


@pytest.mark.parametrize(
    ("before", "said_"),
    [
        ("import subprocess\nsubprocess.run(['/bin/true'], check=True)\n", "PermissionError"),
        ("print(open('/etc/shadow').read())\n", "PermissionError"),
        ("import socket\nsocket.create_connection(('127.0.0.1', 80))\n", "PermissionError"),
    ],
)
async def test_sandbox(compiler: Compiler, add: kernel_pb2.Task, before: str, said_: str) -> None:
    """A module that starts processes, reads files or connects gets nothing."""
    report = await verify(compiler, add, before + SOURCE)
    assert report.verdict == Report.CRASHED, said(report)
    assert f"kernel.py:{before.count(chr(10))}: {said_}" in report.explanation


async def test_endless_import(compiler: Compiler, add: kernel_pb2.Task) -> None:
    """A module that never ends is stopped, before anything is compiled."""
    action: dict[str, Any] = {"timeout": {"seconds": 2}}
    report = await verify(compiler, add, SOURCE + "\nwhile True:\n    pass\n", **action)
    assert report.verdict == Report.TIMED_OUT, said(report)
    assert not report.builds
