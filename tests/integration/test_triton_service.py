"""Triton candidates through the compiler service: each planted fault gets its verdict, with line or operator."""

from __future__ import annotations

import pytest

from kernelvault.v1 import compiler_pb2, kernel_pb2
from tests.compiler import Compiler

Report = compiler_pb2.VerificationReport
Finding = compiler_pb2.Finding
# The compiler's sandboxes import torch and Triton first.
pytestmark = pytest.mark.timeout(300)

SOFTMAX = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)

def get_inputs(rows=4, columns=100, dtype=torch.float32):
    return [torch.randn(rows, columns, dtype=dtype)]

def get_init_inputs():
    return []

def get_cases():
    return [
        {"id": "one", "rows": 1, "columns": 1},
        {"id": "odd", "rows": 5, "columns": 77},
        {"id": "wide", "rows": 3, "columns": 1000},
        {"id": "large", "rows": 8192, "columns": 4096, "kind": "performance"},
    ]
"""
HEAD = "import torch\nimport triton\nimport triton.language as tl\n"
KERNEL = """
@triton.jit
def softmax_kernel(x_ptr, out_ptr, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row * stride + offsets, mask=mask, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * columns + offsets, e / tl.sum(e, axis=0), mask=mask)
"""
WRAPPER = """
def module_fn(x):
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    rows, columns = x.shape
    x = x if x.stride(1) == 1 else x.contiguous()
    softmax_kernel[(rows,)](x, out, columns, x.stride(0), BLOCK=triton.next_power_of_2(columns))
    return out
"""
GOOD = HEAD + KERNEL + WRAPPER


def line_of(source: str, text: str) -> str:
    """Where `text` first stands in a source, as a finding says it."""
    return f"kernel.py:{source[: source.index(text)].count(chr(10)) + 1}"


@pytest.fixture
async def softmax(compiler: Compiler) -> kernel_pb2.Task:
    """The task of a softmax over rows."""
    return await compiler.prepare(SOFTMAX, "softmax")


def said(report: Report) -> str:
    """Everything that a report tells its reader."""
    return "\n".join([report.explanation, *(f"{f.location}: {f.message}" for f in report.findings)])


async def test_good_kernel_passes(compiler: Compiler, softmax: kernel_pb2.Task) -> None:
    """A right kernel passes; its report holds builds for all targets, plans, resources and code objects."""
    report = await compiler.verify(softmax, GOOD, targets=["gfx90a", "gfx942", "gfx950"])
    assert report.verdict == Report.PASSED, said(report)
    assert {build.target for build in report.builds if build.compiled} == {"gfx90a", "gfx942", "gfx950"}
    assert list(report.executed_targets) == ["cpu"]
    plans = {plan.case_id: plan for plan in report.plans}
    assert set(plans) == {case.id for case in softmax.cases}
    [kernel] = plans["large"].kernels
    assert "softmax_kernel" in kernel.display_name
    images = {image.target: image for image in kernel.images}
    assert set(images) == {"gfx90a", "gfx942", "gfx950", "cpu"}
    gpu = images["gfx942"]
    assert gpu.block_threads == 64 * 4
    assert gpu.resources.vgprs > 0
    assert gpu.resources.lds_bytes > 0
    assert gpu.code_object.hash
    [operation] = plans["large"].operations
    assert operation.launch.grid.x == 8192


async def test_repeat_is_answered_from_the_cache(compiler: Compiler, softmax: kernel_pb2.Task) -> None:
    """The second verification of an equal candidate is the first one's report."""
    first = await compiler.verify(softmax, GOOD + "# twice\n")
    second = await compiler.verify(softmax, GOOD + "# twice\n")
    assert (first.cached, second.cached) == (False, True)
    assert second.verdict == first.verdict


async def test_off_by_one_mask_is_unsafe(compiler: Compiler, softmax: kernel_pb2.Task) -> None:
    """A mask that lets one element too many through is UNSAFE, with the line and the buffer."""
    source = GOOD.replace("mask = offsets < columns", "mask = offsets <= columns")
    report = await compiler.verify(softmax, source)
    assert report.verdict == Report.UNSAFE, said(report)
    assert Finding.OUT_OF_BOUNDS in {finding.kind for finding in report.findings}
    places = {finding.location for finding in report.findings}
    assert places & {line_of(source, "x = tl.load("), line_of(source, "tl.store(out_ptr")}, said(report)


async def test_race_between_programs_is_unsafe(compiler: Compiler, softmax: kernel_pb2.Task) -> None:
    """Programs that write different values to the same place are UNSAFE, with the line of the store."""
    source = GOOD.replace("out_ptr + row * columns + offsets, e", "out_ptr + (row // 2) * columns + offsets, e")
    report = await compiler.verify(softmax, source)
    assert report.verdict == Report.UNSAFE, said(report)
    races = [finding for finding in report.findings if finding.kind == Finding.RACE]
    assert races and races[0].location == line_of(source, "tl.store(out_ptr"), said(report)


async def test_accumulating_in_bfloat16_is_a_mismatch(compiler: Compiler) -> None:
    """A sum of float32 that is kept in bfloat16 is MISMATCHED: the interpreter rounds as the hardware does."""
    reference = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return x.sum(dim=-1)

def get_inputs(rows=4, columns=1000):
    return [torch.rand(rows, columns)]

def get_init_inputs():
    return []
"""
    kernel = """
@triton.jit
def sum_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), dtype=tl.ACCUMULATOR)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * columns + offsets, mask=offsets < columns, other=0.0).to(tl.ACCUMULATOR)
    tl.store(out_ptr + row, tl.sum(total.to(tl.float32), axis=0))

def module_fn(x):
    x = x.contiguous()
    out = torch.empty(x.shape[:1], dtype=x.dtype, device=x.device)
    sum_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=64)
    return out
"""
    task = await compiler.prepare(reference, "rowsum")
    good = await compiler.verify(task, HEAD + kernel.replace("ACCUMULATOR", "float32"))
    assert good.verdict == Report.PASSED, said(good)
    bad = await compiler.verify(task, HEAD + kernel.replace("ACCUMULATOR", "bfloat16"))
    assert bad.verdict == Report.MISMATCHED, said(bad)


async def test_kernel_that_is_never_launched_is_rejected(compiler: Compiler, softmax: kernel_pb2.Task) -> None:
    """A module that defines a kernel and copies its input out is REJECTED: no kernel writes the output."""
    source = HEAD + KERNEL + "\ndef module_fn(x):\n    return x.clone()\n"
    report = await compiler.verify(softmax, source)
    assert report.verdict == Report.REJECTED, said(report)
    assert "no kernel writes output 0" in report.explanation


async def test_torch_operator_in_the_wrapper_is_rejected(compiler: Compiler, softmax: kernel_pb2.Task) -> None:
    """A wrapper that leaves the work to torch is REJECTED, with operator and line."""
    source = HEAD + KERNEL + "\ndef module_fn(x):\n    return torch.softmax(x, dim=-1)\n"
    report = await compiler.verify(softmax, source)
    assert report.verdict == Report.REJECTED, said(report)
    assert "softmax" in said(report)
    assert line_of(source, "return torch.softmax") in said(report)
    assert Finding.FOREIGN_OPERATOR in {finding.kind for finding in report.findings}


async def test_wrong_result_is_a_mismatch(compiler: Compiler, softmax: kernel_pb2.Task) -> None:
    """A kernel that computes something else is MISMATCHED."""
    report = await compiler.verify(softmax, GOOD.replace("tl.exp(x - ", "tl.exp2(x - "))
    assert report.verdict == Report.MISMATCHED, said(report)


async def test_compile_error_names_the_line(compiler: Compiler, softmax: kernel_pb2.Task) -> None:
    """A kernel that does not compile is COMPILE_FAILED, with its author's file and line."""
    source = GOOD.replace("tl.max(x, axis=0)", "tl.max(x, axis=3)")
    report = await compiler.verify(softmax, source)
    assert report.verdict == Report.COMPILE_FAILED, said(report)
    line = int(line_of(source, "tl.max(x").split(":")[1])
    assert any((d.file, d.line) == ("kernel.py", line) for build in report.builds for d in build.diagnostics)


@pytest.mark.parametrize(
    ("source", "verdict", "words"),
    [
        ("def module_fn(x:\n", Report.COMPILE_FAILED, "kernel.py:1"),
        ("import no_such_module\n", Report.CRASHED, "no_such_module"),
        (HEAD + KERNEL, Report.REJECTED, "module_fn"),
        (HEAD + "def module_fn(x):\n    raise ValueError('not today')\n", Report.CRASHED, "not today"),
        (HEAD + "def module_fn(x):\n    return x.shape\n", Report.MISMATCHED, ""),
    ],
)
async def test_modules_that_do_not_get_far(
    compiler: Compiler, softmax: kernel_pb2.Task, source: str, verdict: Report.Verdict, words: str
) -> None:
    """What is wrong with a module is said in words of its own."""
    report = await compiler.verify(softmax, source)
    assert Report.Verdict.Name(report.verdict) == Report.Verdict.Name(verdict), said(report)
    assert words in said(report)
    assert "svc_compiler" not in said(report)


async def test_a_hang_is_bounded_and_harms_nobody(compiler: Compiler, softmax: kernel_pb2.Task) -> None:
    """A wrapper and a kernel that never end are TIMED_OUT; the next candidate passes."""
    for source in (
        GOOD.replace("    rows, columns = x.shape", "    while True:\n        pass"),
        GOOD.replace(
            "    mask = offsets < columns", "    mask = offsets < columns\n    while row >= 0:\n        row += 1"
        ),
    ):
        report = await compiler.verify(softmax, source, timeout={"seconds": 3})
        assert report.verdict == Report.TIMED_OUT, said(report)
    report = await compiler.verify(softmax, GOOD, fresh=True)
    assert report.verdict == Report.PASSED, said(report)


async def test_inline_assembly_needs_a_device(compiler: Compiler, softmax: kernel_pb2.Task) -> None:
    """What the interpreter cannot run is NEEDS_DEVICE, never a wrong result."""
    source = GOOD.replace(
        "    e = tl.exp(",
        '    x = tl.inline_asm_elementwise("v_mov_b32 $0, $1", "=v,v", [x], dtype=tl.float32, is_pure=True, pack=1)\n'
        "    e = tl.exp(",
    )
    report = await compiler.verify(softmax, source)
    assert report.verdict == Report.NEEDS_DEVICE, said(report)
    assert "inline assembly" in report.explanation


async def test_model_new_is_an_entry_point(compiler: Compiler, softmax: kernel_pb2.Task) -> None:
    """KernelBench's interface: a class in place of the function."""
    source = GOOD + "\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return run(x)\n"
    report = await compiler.verify(softmax, source.replace("module_fn", "run"))
    assert report.verdict == Report.PASSED, said(report)


async def test_autotuned_kernel_passes(compiler: Compiler, softmax: kernel_pb2.Task) -> None:
    """Of an autotuned kernel one configuration is chosen; the plan keeps the others."""
    decorated = KERNEL.replace(
        "@triton.jit",
        "@triton.autotune([triton.Config({}, num_warps=n) for n in (1, 2, 4)], key=['columns'])\n@triton.jit",
    )
    report = await compiler.verify(softmax, HEAD + decorated + WRAPPER)
    assert report.verdict == Report.PASSED, said(report)
    [operation] = report.plans[0].operations
    assert len(operation.launch.alternatives) == 2
