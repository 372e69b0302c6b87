"""Triton kernels on the interpreter's model, in real sandboxed children: results, planted faults, what needs a GPU."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytest_asyncio

from kernelvault import errors
from kernelvault.replay.triton import model
from kernelvault.sandbox import Sandbox
from kernelvault.v1 import kernel_pb2, plan_pb2
from tests.cpu_model import Finding, Verdict
from tests.triton_model import Kernels

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]
F32, I32 = np.float32, np.int32
Make = Callable[..., Kernels]

SOFTMAX = """
def softmax(x, y, n, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < n
    value = tl.load(x + row * stride + column, mask=inside, other=-float("inf"))
    power = tl.exp(value - tl.max(value, axis=0))
    tl.store(y + row * stride + column, power / tl.sum(power, axis=0), mask=inside)
"""
SOFTMAX_TYPES = {"x": "*fp32", "y": "*fp32", "n": "i32", "stride": "i32", "BLOCK": [128]}
ADD = """
def add(x, y, n, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = place < n
    tl.store(y + place, tl.load(x + place, mask=inside) + 1.0, mask=inside)
"""
ADD_TYPES = {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": [128]}


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def sandbox() -> AsyncIterator[Sandbox]:
    """With the child of the model preloaded."""
    started = await Sandbox.start(preload=model.PRELOAD)
    yield started
    await started.close()


@pytest.fixture
def make(sandbox: Sandbox, tmp_path: Path) -> Make:
    """Makes kernels of a text."""

    def of_text(text: str, kernel: str, types: dict[str, object]) -> Kernels:
        return Kernels(text, kernel, types, model.TritonModel(sandbox), tmp_path)

    return of_text


def normal(*shape: int) -> np.ndarray[Any, Any]:
    """Numbers from a normal distribution."""
    return np.random.default_rng(0).standard_normal(shape, F32)


async def test_softmax(make: Make, tmp_path: Path) -> None:
    """Rows are normalised in both orders of the programs, within the CPU time that is promised."""
    kernels = make(SOFTMAX, "softmax", SOFTMAX_TYPES | {"BLOCK": [256]})
    x = normal(64, 256)
    plan = kernels.plan({"x": x, "y": np.empty_like(x)}, ["x"], ["y"])
    plan.launch("softmax", "x", "y", I32(256), I32(256), grid=64)
    outcome = await plan.replay(tmp_path, repetitions=2)
    power = np.exp(x - x.max(axis=1, keepdims=True))
    for [y] in [outcome.outputs, outcome.repetitions[1]]:
        np.testing.assert_allclose(y, power / power.sum(axis=1, keepdims=True), rtol=1e-6)
    assert outcome.findings == []
    assert outcome.cpu_seconds < 0.25


async def test_mask_is_off_by_one(make: Make, tmp_path: Path) -> None:
    """A lane too many is out of bounds: program, lanes, distance, buffer and line are told."""
    kernels = make(ADD, "add", ADD_TYPES)
    x = normal(1000)
    plan = kernels.plan({"x": x, "y": np.empty_like(x)}, ["x"], ["y"]).launch("add", "x", "y", I32(1001), grid=8)
    outcome = await plan.replay(tmp_path, repetitions=2)
    read, written = outcome.findings
    assert (read.kind, read.buffer, read.kernel) == (Finding.OUT_OF_BOUNDS, "x", "add")
    assert read.location == written.location == kernels.line("tl.store")
    assert read.message == (
        "program (7, 0, 0) reads out of bounds: 1 of 105 lanes, the first 1 element past the end of "
        "the input buffer 'x' (1000 elements)"
    )
    assert written.message == (
        "program (7, 0, 0) writes out of bounds: 1 of 105 lanes, the first 1 element past the end of "
        "the output buffer 'y' (1000 elements)"
    )
    assert (read.block.x, read.block.y, read.block.z) == (7, 0, 0)
    assert outcome.fault is not None
    assert outcome.fault[0] == Verdict.UNSAFE


async def test_line_in_a_helper(make: Make, tmp_path: Path) -> None:
    """An access in a function that the kernel calls is told with the function's line."""
    text = "def get(p):\n    return tl.load(p)\n\ndef kernel(x, y):\n    tl.store(y, get(x - 1))\n"
    kernels = make(text, "kernel", {"x": "*fp32", "y": "*fp32"})
    plan = kernels.plan({"x": normal(4), "y": normal(4)}, ["x"], ["y"]).launch("kernel", "x", "y")
    finding = (await plan.replay(tmp_path)).only_finding()
    assert finding.location == kernels.line("tl.load")
    assert "1 of 1 lanes, the first 1 element before the start of the input buffer 'x'" in finding.message


RACE = """
def totals(x, y, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    values = tl.load(x + program * BLOCK + tl.arange(0, BLOCK))
    {store}
"""
RACE_TYPES: dict[str, object] = {"x": "*fp32", "y": "*fp32", "BLOCK": [16]}


async def test_programs_race(make: Make, tmp_path: Path) -> None:
    """Programs that store to one place are told, both of them."""
    kernels = make(RACE.format(store="tl.store(y, tl.sum(values))"), "totals", RACE_TYPES)
    plan = kernels.plan({"x": normal(64), "y": normal(1)}, ["x"], ["y"]).launch("totals", "x", "y", grid=4)
    finding = (await plan.replay(tmp_path, repetitions=1)).only_finding()
    assert (finding.kind, finding.location) == (Finding.RACE, kernels.line("tl.store"))
    assert finding.message == (
        "program (1, 0, 0) writes element 0 of the output buffer 'y' that program (0, 0, 0) wrote in the same launch, "
        "with nothing to order them (1 elements)"
    )


async def test_read_before_a_write_races_in_the_other_order(make: Make, tmp_path: Path) -> None:
    """A program that reads what a later one writes is found when the programs run backwards."""
    text = RACE.format(store="tl.store(x + (program + 1) * BLOCK + tl.arange(0, BLOCK), values * 2, mask=program < 3)")
    text = text.replace("program = tl.program_id(0)", "program = 3 - tl.program_id(0)")
    kernels = make(text, "totals", RACE_TYPES)
    plan = kernels.plan({"x": normal(64), "y": normal(1)}, ["x"], ["y"]).launch("totals", "x", "y", grid=4)
    findings = (await plan.replay(tmp_path, repetitions=2)).findings
    assert {finding.kind for finding in findings} == {Finding.RACE}
    assert any("reads element" in finding.message for finding in findings)


async def test_atomics_are_no_race(make: Make, tmp_path: Path) -> None:
    """Programs that add to one place atomically are right."""
    kernels = make(RACE.format(store="tl.atomic_add(y, tl.sum(values))"), "totals", RACE_TYPES)
    x = normal(64)
    plan = kernels.plan({"x": x, "y": normal(1)}, ["x"], ["y"])
    plan.message.operations.add(
        phase=plan_pb2.Operation.CALL, fill=plan_pb2.Fill(buffer=1, size_bytes=4, pattern=bytes(4))
    )
    outcome = await plan.launch("totals", "x", "y", grid=4).replay(tmp_path, repetitions=2)
    np.testing.assert_allclose(outcome.outputs[0], [x.sum()], rtol=1e-4)


UNWRITTEN = """
def kernel(x, s, y, BLOCK: tl.constexpr):
    place = tl.arange(0, BLOCK)
    found = tl.load(s + place)
    tl.store(y + place, {value})
"""
UNWRITTEN_TYPES: dict[str, object] = {"x": "*fp32", "s": "*fp32", "y": "*fp32", "BLOCK": [8]}


@pytest.mark.parametrize(
    ("value", "harmful"), [("found + 1.0", True), ("tl.where(place < 0, found, tl.load(x + place))", False)]
)
async def test_reads_what_nobody_wrote(make: Make, tmp_path: Path, value: str, *, harmful: bool) -> None:
    """A read of unwritten memory is a fault where it shows in an output, and only there."""
    kernels = make(UNWRITTEN.format(value=value), "kernel", UNWRITTEN_TYPES)
    buffers = {"x": normal(8), "s": normal(8), "y": normal(8)}
    plan = kernels.plan(buffers, ["x"], ["y"]).launch("kernel", "x", "s", "y")
    outcome = await plan.replay(tmp_path, repetitions=2)
    assert [finding.kind for finding in outcome.findings] == [Finding.UNINITIALIZED_READ] * harmful
    if harmful:
        assert outcome.findings[0].message == (
            "program (0, 0, 0) reads what nobody has written: 8 of 8 lanes, the first element 0 of "
            "the scratch buffer 's'"
        )


async def test_what_copies_wrote_counts_as_written(make: Make, tmp_path: Path) -> None:
    """Conversions, copies, fills and uploads happen between launches, and fill memory."""
    kernels = make(ADD, "add", ADD_TYPES)
    x = normal(8).astype(np.float16)
    buffers = {"x": x, "a": normal(8), "b": normal(8), "y": normal(8)}
    plan = kernels.plan(buffers, ["x"], ["y"])
    halves = kernel_pb2.TensorView(dtype="float16", dims=[8], strides=[1])
    floats = kernel_pb2.TensorView(dtype="float32", dims=[8], strides=[1])
    convert = plan_pb2.Convert(source=0, source_view=halves, destination=1, destination_view=floats)
    call = plan_pb2.Operation.CALL
    plan.message.operations.add(phase=call, convert=convert)
    plan.message.operations.add(phase=call, copy=plan_pb2.Copy(source=1, destination=2, size_bytes=32))
    upload = plan_pb2.Upload(buffer=2, offset=4, data=F32([5]).tobytes())
    plan.message.operations.add(phase=call, upload=upload)
    outcome = await plan.launch("add", "b", "y", I32(8)).replay(tmp_path, repetitions=2)
    expected = x.astype(F32) + 1
    expected[1] = 6
    assert np.array_equal(outcome.outputs[0], expected)


async def test_bfloat16_accumulation_shows(make: Make, tmp_path: Path) -> None:
    """A sum that is kept in bfloat16 has bfloat16's error: 256 ones and more stay at 256."""
    text = """
def kernel(x, y, n):
    total = tl.zeros((1,), {dtype})
    for k in range(n):
        total += tl.load(x + k + tl.zeros((1,), tl.int32)).to({dtype})
    tl.store(y + tl.arange(0, 1), total.to(tl.float32))
"""
    sums = {}
    for dtype in ("tl.bfloat16", "tl.float32"):
        kernels = make(text.format(dtype=dtype), "kernel", {"x": "*fp32", "y": "*fp32", "n": "i32"})
        x = np.ones(300, F32)
        plan = kernels.plan({"x": x, "y": normal(1)}, ["x"], ["y"]).launch("kernel", "x", "y", I32(300))
        sums[dtype] = (await plan.replay(tmp_path)).outputs[0].tolist()
    assert sums == {"tl.bfloat16": [256.0], "tl.float32": [300.0]}


async def test_results_that_no_launch_wrote(make: Make, tmp_path: Path) -> None:
    """A result is told whose buffer only host code filled; one that was copied from a launch's is not."""
    kernels = make(ADD, "add", ADD_TYPES)
    buffers = {"x": normal(8), "y": normal(8), "z": normal(8), "w": normal(8)}
    plan = kernels.plan(buffers, ["x"], ["y", "z", "w"]).launch("add", "x", "y", I32(8))
    call = plan_pb2.Operation.CALL
    plan.message.operations.add(phase=call, copy=plan_pb2.Copy(source=1, destination=2, size_bytes=32))
    plan.message.operations.add(phase=call, copy=plan_pb2.Copy(source=0, destination=3, size_bytes=32))
    path = tmp_path / "inputs.kvb"
    await plan.replay(tmp_path)
    replay = await kernels.model.replay(plan.message, kernels.built.image, path, timeout_s=20)
    replay.close()
    assert replay.unwritten == [2]


async def test_prepared_memory_is_used_twice(make: Make, tmp_path: Path) -> None:
    """A plan that prepares memory is called again on it: what the first call left there shows in the second."""
    text = "def once(x, y, done):\n    if tl.load(done) == 0:\n        tl.store(y, tl.load(x))\n    tl.store(done, 1)\n"
    kernels = make(text, "once", {"x": "*fp32", "y": "*fp32", "done": "*i32"})
    buffers = {"x": normal(2), "y": normal(2), "done": np.zeros(1, np.int32)}
    plan = kernels.plan(buffers, ["x"], ["y"]).launch("once", "x", "y", "done")
    fill = plan_pb2.Operation(fill=plan_pb2.Fill(buffer=2, size_bytes=4, pattern=bytes(4)))
    outputs = {}
    for phase in (plan_pb2.Operation.CALL, plan_pb2.Operation.INIT):
        fill.phase = phase
        plan.message.operations.insert(0, fill)
        outcome = await plan.replay(tmp_path, repetitions=2)
        outputs[phase] = [float(y[0]) for [y] in outcome.repetitions]
        del plan.message.operations[0]
    x = buffers["x"].tolist()
    assert outputs == {plan_pb2.Operation.CALL: [x[0], x[0]], plan_pb2.Operation.INIT: [x[0], x[1]]}


async def test_endless_loop_is_timed_out(make: Make, tmp_path: Path) -> None:
    """A loop that never ends meets the time limit, and the next replay is none the worse."""
    text = (
        "def kernel(x, y):\n    k = 1\n    while k > 0:\n        k += 2\n        k -= 2\n    tl.store(y, tl.load(x))\n"
    )
    kernels = make(text, "kernel", {"x": "*fp32", "y": "*fp32"})
    plan = kernels.plan({"x": normal(1), "y": normal(1)}, ["x"], ["y"]).launch("kernel", "x", "y")
    outcome = await plan.replay(tmp_path, timeout_s=1)
    assert outcome.fault is not None
    assert outcome.fault[0] == Verdict.TIMED_OUT
    await test_softmax(make, tmp_path)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("def kernel(x, y):\n    for k in range(1 << 40):\n        tl.store(y, tl.load(x))\n", "tl.store"),
        ("def kernel(x, y):\n    if tl.program_id(0) >= 0:\n        tl.store(y, tl.load(x))\n", ""),
    ],
)
async def test_too_much_work_needs_a_gpu(make: Make, tmp_path: Path, text: str, line: str) -> None:
    """A loop, or a launch, that would take too long is turned away at once, not after a time-out."""
    kernels = make(text, "kernel", {"x": "*fp32", "y": "*fp32"})
    grid = 1 if line else 1 << 24
    plan = kernels.plan({"x": normal(1), "y": normal(1)}, ["x"], ["y"]).launch("kernel", "x", "y", grid=grid)
    outcome = await plan.replay(tmp_path, timeout_s=30)
    assert outcome.fault is not None
    assert outcome.fault[0] == Verdict.NEEDS_DEVICE
    assert outcome.cpu_seconds < 2


async def test_huge_block_needs_a_gpu(make: Make, tmp_path: Path) -> None:
    """Blocks that do not fit into memory are no fault of the kernel's, and harm nobody."""
    text = """
def kernel(x, y):
    wide = tl.zeros((1048576, 1), tl.float32) + tl.zeros((1, 1048576), tl.float32)
    tl.store(y, tl.load(x) + tl.sum(tl.sum(wide, axis=1), axis=0))
"""
    kernels = make(text, "kernel", {"x": "*fp32", "y": "*fp32"})
    plan = kernels.plan({"x": normal(1), "y": normal(1)}, ["x"], ["y"]).launch("kernel", "x", "y")
    outcome = await plan.replay(tmp_path)
    assert outcome.fault is not None
    assert outcome.fault[0] == Verdict.NEEDS_DEVICE


LACKING = {
    "inline assembly": "tl.inline_asm_elementwise('mov', '=r,r', [tl.load(x)], tl.float32, True, 1)",
    "dot_scaled": "tl.dot_scaled(x, None, 'e4m3', x, None, 'e4m3')",
    "fnuz": "tl.load(x).to(tl.float8e4b8).to(tl.float32)",
}


@pytest.mark.parametrize("what", sorted(LACKING))
async def test_what_the_interpreter_lacks_needs_a_gpu(make: Make, tmp_path: Path, what: str) -> None:
    """It is named with its line, before anything runs."""
    kernels = make(f"def kernel(x, y):\n    tl.store(y, {LACKING[what]})\n", "kernel", {"x": "*fp32", "y": "*fp32"})
    plan = kernels.plan({"x": normal(1), "y": normal(1)}, ["x"], ["y"]).launch("kernel", "x", "y")
    outcome = await plan.replay(tmp_path)
    assert outcome.fault is not None
    verdict, why = outcome.fault
    assert verdict == Verdict.NEEDS_DEVICE
    assert why.startswith(f"{kernels.line('tl.store')}: ")
    assert what in why
    assert outcome.cpu_seconds == 0


async def test_spin_lock_needs_a_gpu(make: Make, tmp_path: Path) -> None:
    """A loop on an atomic waits for another program, which the interpreter does not run meanwhile."""
    text = """
def kernel(x, y):
    while tl.atomic_cas(y, 0, 1) == 1:
        pass
    tl.store(x, 1)
"""
    kernels = make(text, "kernel", {"x": "*i32", "y": "*i32"})
    plan = kernels.plan({"x": I32([0]), "y": I32([0])}, ["x"], ["y"]).launch("kernel", "x", "y")
    outcome = await plan.replay(tmp_path)
    assert outcome.fault is not None
    assert outcome.fault[0] == Verdict.NEEDS_DEVICE
    assert "waits for another program" in outcome.fault[1]


async def test_assertion_of_the_kernel(make: Make, tmp_path: Path) -> None:
    """A failed assertion crashes the candidate, and its own words are told with the line."""
    text = "def kernel(x, y):\n    tl.device_assert(tl.load(x) > 100, 'x is small')\n    tl.store(y, 1.0)\n"
    kernels = make(text, "kernel", {"x": "*fp32", "y": "*fp32"})
    plan = kernels.plan({"x": normal(1), "y": normal(1)}, ["x"], ["y"]).launch("kernel", "x", "y")
    outcome = await plan.replay(tmp_path)
    line = kernels.line("device_assert")
    assert outcome.fault == (Verdict.CRASHED, f"{line}: an assertion of the kernel kernel failed: x is small.")


async def test_counters_are_scaled_up(make: Make, tmp_path: Path) -> None:
    """Of a launch, some programs are counted and stand for all; nothing is judged."""
    kernels = make(SOFTMAX, "softmax", SOFTMAX_TYPES)
    x = normal(64, 128)
    plan = kernels.plan({"x": x, "y": np.empty_like(x)}, ["x"], ["y"])
    plan.launch("softmax", "x", "y", I32(128), I32(128), grid=64)
    outcome = await plan.replay(tmp_path, sample_blocks=8)
    [counters] = outcome.counters
    assert (counters.blocks, counters.sampled_blocks) == (64, 8)
    assert counters.global_read_bytes == counters.global_write_bytes == x.nbytes
    assert counters.global_transaction_bytes == counters.unique_bytes == 2 * x.nbytes
    assert counters.global_line_bytes == 2 * x.nbytes
    assert counters.coalescing == 1
    assert counters.vector_flops > x.size


async def test_matrix_flops(make: Make, tmp_path: Path) -> None:
    """A product of matrices counts two operations for each multiplication."""
    text = """
def product(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i[:, None] * N + i[None, :])
    tl.store(y + i[:, None] * N + i[None, :], tl.dot(a, a))
"""
    kernels = make(text, "product", {"x": "*fp32", "y": "*fp32", "N": [32]})
    x = normal(32, 32)
    plan = kernels.plan({"x": x, "y": np.empty_like(x)}, ["x"], ["y"]).launch("product", "x", "y")
    [counters] = (await plan.replay(tmp_path, sample_blocks=1)).counters
    assert counters.matrix_flops == 2 * 32**3
    assert dict(counters.matrix_flops_by_type) == {"f32": 2 * 32**3}


async def test_fused_operations_count_two(make: Make, tmp_path: Path) -> None:
    """A product and a sum, though rounded once."""
    text = """
def fused(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i)
    tl.store(y + i, tl.fma(a, a, a))
"""
    kernels = make(text, "fused", {"x": "*fp32", "y": "*fp32", "N": [64]})
    x = normal(64)
    plan = kernels.plan({"x": x, "y": np.empty_like(x)}, ["x"], ["y"]).launch("fused", "x", "y")
    [counters] = (await plan.replay(tmp_path, sample_blocks=1)).counters
    assert counters.vector_flops == 2 * 64


async def test_arguments_of_all_types(make: Make, tmp_path: Path) -> None:
    """Scalars arrive as their types have them, in their places in the segment."""
    text = "def kernel(y, a, b, c, d):\n    tl.store(y, a + b + c.to(tl.float32) + d)\n"
    types: dict[str, object] = {"y": "*fp64", "a": "i8", "b": "fp32", "c": "bf16", "d": "i64"}
    kernels = make(text, "kernel", types)
    plan = kernels.plan({"y": np.zeros(1)}, [], ["y"])
    half = (F32([2.5]).view(np.uint32) >> 16).astype(np.uint16)[0]
    plan.launch("kernel", "y", np.int8(-3), F32(0.5), half, np.int64(1 << 20))
    assert (await plan.replay(tmp_path)).outputs[0].tolist() == [(1 << 20) + 0.0]


async def test_foreign_image(make: Make, tmp_path: Path) -> None:
    """An image that is no program is the platform's fault."""
    kernels = make(ADD, "add", ADD_TYPES)
    plan = kernels.plan({"x": normal(8), "y": normal(8)}, ["x"], ["y"]).launch("add", "x", "y", I32(8))
    kernels.built.image.write_bytes(b"nothing of the kind")
    with pytest.raises(errors.Internal, match="Triton program"):
        await plan.replay(tmp_path)
