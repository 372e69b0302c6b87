"""The CPU model: kernels with known results, planted faults, and honest look-alikes in which nothing may be found."""

from __future__ import annotations

import functools
import math
import os
import statistics
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest
import pytest_asyncio

from kernelvault.replay import bundle, cpu_model
from kernelvault.sandbox import Sandbox
from svc_compiler.hip import image
from svc_compiler.hip.toolchain import Toolchain
from svc_compiler.refusal import Refused
from tests.cpu_model import PROGRAMS, Finding, Plan, Program, Verdict, compile_program

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]
PREFIX = Path(os.environ.get("KERNELVAULT_TOOLCHAIN", "~/.cache/kernelvault/toolchain"))
F32, F64, I32, U32 = np.float32, np.float64, np.int32, np.uint32


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def sandbox() -> AsyncIterator[Sandbox]:
    """With the child of the CPU model preloaded."""
    started = await Sandbox.start(preload=cpu_model.PRELOAD)
    yield started
    await started.close()


@pytest.fixture(scope="module")
def toolchain(tmp_path_factory: pytest.TempPathFactory) -> Toolchain:
    """With a cache that the tests of this module share."""
    return Toolchain.find(PREFIX, tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def model(sandbox: Sandbox, toolchain: Toolchain) -> cpu_model.CpuModel:
    """A CPU model that tells the source lines of findings."""
    return cpu_model.CpuModel(sandbox, locate=functools.partial(image.locate, sandbox, toolchain))


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def honest(
    sandbox: Sandbox, toolchain: Toolchain, model: cpu_model.CpuModel, tmp_path_factory: pytest.TempPathFactory
) -> Program:
    """Kernels without a fault."""
    folder = tmp_path_factory.mktemp("honest") / "it"
    return await compile_program(sandbox, toolchain, folder, PROGRAMS / "honest.hip", model)


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def faulty(
    sandbox: Sandbox, toolchain: Toolchain, model: cpu_model.CpuModel, tmp_path_factory: pytest.TempPathFactory
) -> Program:
    """Kernels with one fault each."""
    folder = tmp_path_factory.mktemp("faulty") / "it"
    return await compile_program(sandbox, toolchain, folder, PROGRAMS / "faulty.hip", model)


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    """Numbers from a normal distribution."""
    return np.random.default_rng(seed).standard_normal(shape, F32)


def line_of(program: str, text: str) -> int:
    """The number of the first line of a program that holds `text`."""
    lines = (PROGRAMS / program).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


async def test_vector_add(honest: Program, tmp_path: Path) -> None:
    """A million threads add exactly, and a second run gives the same."""
    a, b = normal(1 << 20), normal(1 << 20, seed=1)
    plan = honest.plan({"a": a, "b": b, "c": np.empty_like(a)}, ["a", "b"], ["c"])
    done = await plan.launch("vadd", "a", "b", "c", I32(a.size), grid=a.size // 256, block=256).replay(
        tmp_path, repetitions=2
    )
    assert np.array_equal(done.outputs[0], a + b)
    assert np.array_equal(done.repetitions[1][0], a + b)
    assert done.findings == []
    assert all(np.array_equal(left, given) for left, given in zip(done.inputs_after, (a, b), strict=True))


async def test_tiled_matrix_product(honest: Program, tmp_path: Path) -> None:
    """Shared-memory tiles and two barriers a step."""
    a, b = normal(64, 64), normal(64, 64, seed=1)
    plan = honest.plan({"a": a, "b": b, "c": np.empty_like(a)}, ["a", "b"], ["c"])
    done = await plan.launch("matmul", "a", "b", "c", I32(64), grid=(4, 4), block=(16, 16)).replay(tmp_path)
    assert np.allclose(done.outputs[0], a @ b, atol=1e-4)


async def test_softmax(honest: Program, tmp_path: Path) -> None:
    """Several waves a block, wave64 shuffles, an in-place second pass."""
    x = normal(16, 1000)
    plan = honest.plan({"x": x, "y": np.empty_like(x)}, ["x"], ["y"])
    done = await plan.launch("softmax", "x", "y", I32(1000), grid=16, block=256).replay(tmp_path)
    expected = np.exp(x.astype(F64) - x.max(1, keepdims=True))
    assert np.allclose(done.outputs[0], expected / expected.sum(1, keepdims=True), rtol=1e-5)


async def test_arguments_of_every_shape(honest: Program, tmp_path: Path) -> None:
    """Scalars on the stack, structs in registers and in memory, vectors: each arrives where the kernel expects it."""
    x = normal(64)
    outputs = ["ten", "view", "big"]
    plan = honest.plan({"x": x, **{name: np.empty_like(x) for name in outputs}}, ["x"], outputs)
    affine = np.array([1, 2, 3], F32).tobytes()
    plan.launch(
        "ten", "x", "ten", I32(64), F32(2), F64(3), np.bool_(True), np.int8(4), np.int16(5), np.int64(6), affine
    )
    # The struct's pointer is a relocation within its bytes.
    plan.launch("view", _struct(16, 8, I32(64)), np.array([1, 0, 0, 2], F32).tobytes(), _struct(16, 8, I32(64)))
    _relocate(plan, {0: "x", 32: "view"})
    plan.launch("big", I32(7), _struct(32, 16, F64(0.5), I32(64), np.int8(1)))
    _relocate(plan, {8: "x", 16: "big"})
    done = await plan.replay(tmp_path)
    assert np.allclose(done.outputs[0], -(x * 2 + 3) + 4 + 5 + 6 + 6)
    assert np.allclose(done.outputs[1], x + 3)
    assert np.allclose(done.outputs[2], x * F32(0.5) + 8)


async def test_template_with_an_empty_functor(honest: Program, tmp_path: Path) -> None:
    """An argument of an empty class takes a byte of the arguments and no register; the byte is padding."""
    x = normal(64)
    plan = honest.plan({"x": x, "y": np.empty_like(x), "z": np.empty_like(x)}, ["x"], ["y", "z"])
    plan.launch("6Square", b"\x55", "x", "y", I32(64)).launch("after_empty", b"\xaa", "x", "z")
    done = await plan.replay(tmp_path)
    assert np.allclose(done.outputs[0], x * x)
    assert np.allclose(done.outputs[1], x * x)
    assert honest.built.padding[honest.symbol("after_empty")] == [0]
    big = honest.built.padding[honest.symbol("big")]
    assert big == [4, 5, 6, 7, *range(8 + 29, 8 + 32)] or big == [*range(8 + 29, 8 + 32)]


async def test_lambda(honest: Program, tmp_path: Path) -> None:
    """A type without a name, in a template."""
    x = normal(64)
    plan = honest.plan({"x": x, "y": np.empty_like(x)}, ["x"], ["y"])
    done = await plan.launch("make_lambda", F32(1.5), "x", "y", I32(64)).replay(tmp_path)
    assert np.array_equal(done.outputs[0], x + F32(1.5))


async def test_divergent_ballots(honest: Program, tmp_path: Path) -> None:
    """Lanes that leave a loop early wait for the others where they meet, as on the hardware."""
    plan = honest.plan({"y": np.empty(64, np.int64)}, [], ["y"])
    done = await plan.launch("diverging", "y").replay(tmp_path)
    first = [0, 48, 48 * 7 + 32, (48 * 7 + 32) * 7 + 16]
    assert done.outputs[0].tolist() == [first[lane % 4] * 1000 + 32 for lane in range(64)]


async def test_shuffles_in_two_branches(honest: Program, tmp_path: Path) -> None:
    """Shuffles at different places in the code do not mix; the lanes then meet for the next one."""
    plan = honest.plan({"y": np.empty(64, I32)}, [], ["y"])
    done = await plan.launch("branches", "y").replay(tmp_path)
    values = np.array([30 if lane < 16 else 2000 for lane in range(64)])
    before = np.array([values[lane - 1] if lane % 8 else values[lane] for lane in range(64)])
    assert done.outputs[0].tolist() == (values + before).tolist()


async def test_rounds_of_a_loop_with_branches(honest: Program, tmp_path: Path) -> None:
    """Lanes that skip a branch wait for those in it before the next round, and after the loop all are together."""
    plan = honest.plan({"y": np.empty(64, I32), "z": np.empty(64, I32)}, [], ["y", "z"])
    done = await plan.launch("branch_in_a_loop", "y").launch("one_value_after_another", "z").replay(tmp_path)
    lanes = np.arange(64)
    expected = np.zeros(64, np.int64)
    for i in range(3):
        expected = expected * 3 + (lanes ^ 32) + i + np.where(lanes % 4 == i, 16000, 0)
        for j in range(2):
            expected += np.where(j < lanes % 3, (lanes % 3 > j).sum(), 0)
    assert done.fault is None
    assert done.outputs[0].tolist() == expected.tolist()
    mine = lanes // 10 % 4
    assert done.outputs[1].tolist() == [int((mine == m).sum()) for m in mine]


async def test_votes_of_tiles(honest: Program, tmp_path: Path) -> None:
    """Tiles vote for themselves, also in a wave that the block does not fill."""
    plan = honest.plan({"y": np.empty(96, I32)}, [], ["y"])
    done = await plan.launch("votes_of_tiles", "y", block=96).replay(tmp_path)
    tile = np.arange(96) // 16
    assert done.fault is None
    assert done.outputs[0].tolist() == (np.where(tile % 2 == 1, 100, 0) + 8 + np.where(tile < 4, 1000, 0)).tolist()


async def test_wave_after_an_early_exit(honest: Program, tmp_path: Path) -> None:
    """A ballot counts the lanes that are left."""
    plan = honest.plan({"y": np.zeros(64, I32)}, ["y"], [])
    done = await plan.launch("early_exit", "y", I32(10)).replay(tmp_path)
    assert done.fault is None
    assert done.inputs_after[0].tolist() == [10] * 10 + [0] * 54


async def test_volatile_lockstep_reduction(honest: Program, tmp_path: Path) -> None:
    """Code that relies on the lockstep of a wave says `volatile`, and gets it."""
    plan = honest.plan({"y": np.empty(1, F32)}, [], ["y"])
    done = await plan.launch("lockstep", "y", block=128).replay(tmp_path)
    assert done.outputs[0][0] == 128


async def test_wave_barrier_and_sync_spellings(honest: Program, tmp_path: Path) -> None:
    """A wave barrier orders the lanes of a wave; CUDA's `_sync` functions work with full masks."""
    plan = honest.plan({"y": np.empty(64, I32), "z": np.empty(64, I32)}, [], ["y", "z"])
    done = await plan.launch("wave_barrier", "y").launch("synced", "z").replay(tmp_path)
    assert done.outputs[0].tolist() == list(range(63, -1, -1))
    assert done.outputs[1].tolist() == [(lane ^ 1) + 1000 for lane in range(64)]


async def test_lane_moves(honest: Program, tmp_path: Path) -> None:
    """DPP, swizzle and readlane do what the ISA's manual says."""
    plan = honest.plan({"y": np.empty(256, I32)}, [], ["y"])
    done = await plan.launch("dpp", "y").replay(tmp_path)
    lanes = range(64)
    assert done.outputs[0][:64].tolist() == [lane - 1 if lane % 16 else -1 for lane in lanes]
    assert done.outputs[0][64:128].tolist() == [lane // 4 * 4 + 3 - lane % 4 for lane in lanes]
    assert done.outputs[0][128:192].tolist() == [lane ^ 16 for lane in lanes]
    assert done.outputs[0][192:].tolist() == [907] * 64


async def test_reducing_barriers_and_groups(honest: Program, tmp_path: Path) -> None:
    """`__syncthreads_count`, `_or`, `_and` reduce over the block; a cooperative group of a block synchronises it."""
    plan = honest.plan({"y": np.empty(3, I32), "z": np.empty(128, I32)}, [], ["y", "z"])
    done = await plan.launch("reductions", "y", block=100).launch("group", "z", block=128).replay(tmp_path)
    assert done.outputs[0].tolist() == [34, 1, 0]
    assert done.outputs[1].tolist() == list(range(127, -1, -1))


async def test_tiles_of_a_group(honest: Program, tmp_path: Path) -> None:
    """A tile of 16 lanes shuffles among itself."""
    plan = honest.plan({"y": np.empty(64, I32)}, [], ["y"])
    done = await plan.launch("tiles", "y").replay(tmp_path)
    assert done.outputs[0].tolist() == [sum(range(i // 16 * 16, i // 16 * 16 + 16)) for i in range(64)]


async def test_load_straight_to_shared_memory(honest: Program, tmp_path: Path) -> None:
    """Pointers to other address spaces are plain ones here, and are checked like them."""
    x = normal(64)
    plan = honest.plan({"x": x, "y": np.empty_like(x)}, ["x"], ["y"])
    done = await plan.launch("direct_to_lds", "x", "y").replay(tmp_path)
    assert np.array_equal(done.outputs[0], x[::-1])


async def test_dynamic_shared_memory(honest: Program, tmp_path: Path) -> None:
    """An `extern __shared__` array has the size that the launch gives it."""
    x = normal(512)
    plan = honest.plan({"x": x, "y": np.empty_like(x)}, ["x"], ["y"])
    done = await plan.launch("reverse", "x", "y", grid=4, block=128, lds=512).replay(tmp_path)
    assert np.array_equal(done.outputs[0], x.reshape(4, 128)[:, ::-1].ravel())


async def test_threads_that_leave_before_a_barrier(honest: Program, tmp_path: Path) -> None:
    """An early exit is no divergent barrier: the hardware does not count what has ended."""
    x = normal(200)
    plan = honest.plan({"x": x, "y": np.empty_like(x)}, ["x"], ["y"])
    done = await plan.launch("leave_before_barrier", "x", "y", I32(200), block=256).replay(tmp_path)
    assert np.array_equal(done.outputs[0], x[::-1])


async def test_waves_with_barriers_of_their_own(honest: Program, tmp_path: Path) -> None:
    """Whole waves may wait at different places."""
    plan = honest.plan({"y": np.empty(128, F32)}, [], ["y"])
    done = await plan.launch("barrier_of_each_wave", "y", block=128).replay(tmp_path)
    assert done.outputs[0].tolist() == [2] * 64 + [1] * 64


async def test_atomics(honest: Program, tmp_path: Path) -> None:
    """Atomics on integers and floats, in global and shared memory, are no races."""
    y, f, u, d = np.array([0, 0, 999, 0, 0], I32), np.array([0, -1, 0], F32), np.zeros(2, I32), np.zeros(1, F64)
    plan = honest.plan({"y": y, "f": f, "u": u, "d": d}, ["y", "f", "u", "d"], [])
    done = await plan.launch("atomics", "y", "f", "u", "d", block=128).replay(tmp_path)
    assert done.fault is None
    y, f, u, d = done.inputs_after
    assert y.tolist() == [128, 127, 0, 42, 127 * 64]
    assert f.tolist() == [64, 127, 256]
    assert u.tolist() == [128 % 10, -1]
    assert d.tolist() == [32]


async def test_compare_and_swap_loop(honest: Program, tmp_path: Path) -> None:
    """The usual loop around atomicCAS starts with a plain read, which is no race."""
    plan = honest.plan({"y": np.zeros(1, F32)}, ["y"], [])
    done = await plan.launch("cas_loop", "y", grid=4, block=64).replay(tmp_path)
    assert done.fault is None
    assert done.inputs_after[0][0] == 256


@pytest.mark.parametrize("repetitions", [1, 2])
async def test_last_block_reduces(honest: Program, tmp_path: Path, repetitions: int) -> None:
    """Memory that a block publishes with a fence and an atomic may be read by a block that sees it."""
    x = normal(8 * 64)
    buffers = {"x": x, "partial": np.empty(8, F32), "arrived": np.zeros(1, I32), "y": np.empty(1, F32)}
    plan = honest.plan(buffers, ["x", "arrived"], ["y"])
    done = await plan.launch("last_block", "x", "partial", "arrived", "y", grid=8).replay(
        tmp_path, repetitions=repetitions
    )
    assert math.isclose(done.outputs[0][0], x.sum(dtype=F64), abs_tol=1e-3)


async def test_same_value_by_all(honest: Program, tmp_path: Path) -> None:
    """Threads that all write the same value race harmlessly."""
    plan = honest.plan({"y": np.empty(1, I32)}, [], ["y"])
    assert (await plan.launch("same_value", "y", grid=3).replay(tmp_path)).outputs[0][0] == 7


async def test_module_variables_start_anew(honest: Program, tmp_path: Path) -> None:
    """Uploads reach `__constant__` variables; each replay starts from the first values."""
    plan = honest.plan({"y": np.empty(1, F32)}, [], ["y"])
    upload = plan.message.operations.add(phase=2).upload
    upload.variable, upload.offset, upload.data = "coefficients", 8, F32(40).tobytes()
    plan.launch("variables", "y").launch("variables", "y")
    done = await plan.replay(tmp_path, repetitions=2)
    assert [outputs[0][0] for outputs in done.repetitions] == [44, 44]
    assert honest.built.variables["coefficients"] == 16


async def test_copies_of_structs_with_padding(honest: Program, tmp_path: Path) -> None:
    """Padding that nobody wrote may be copied."""
    kind = np.dtype([("c", np.int8), ("i", I32), ("s", np.int16)], align=True)
    x = np.zeros(64, kind)
    x["c"], x["i"], x["s"] = range(64), range(64), range(64)
    plan = honest.plan({"x": x.view(I32), "y": np.empty(64 * 3, I32)}, ["x"], ["y"])
    done = await plan.launch("copy_structs", "x", "y").replay(tmp_path)
    y = done.outputs[0].view(kind)
    for part in ("c", "i", "s"):
        assert y[part].tolist() == [i ^ 1 for i in range(64)]


async def test_narrow_floats(honest: Program, tmp_path: Path) -> None:
    """Half precision is rounded after each operation; neighbours may write the halves of a word."""
    a, b = (normal(128, seed=s).astype(np.float16) for s in (0, 1))
    bits = (normal(64).view(U32) >> 16).astype(np.uint16)
    buffers = {"a": a, "b": b, "c": np.empty_like(a), "d": np.empty_like(a), "e": bits.view(np.int16)}
    plan = honest.plan({**buffers, "f": np.empty(64, np.int16)}, ["a", "b", "e"], ["c", "d", "f"])
    plan.launch("halves", "a", "b", "c", I32(128)).launch("half_tile", "a", "d", block=128).launch("bfloats", "e", "f")
    done = await plan.replay(tmp_path)
    assert np.array_equal(done.outputs[0], a * b + np.float16(1))
    assert np.allclose(done.outputs[1], np.exp(a[::-1].astype(F32)), rtol=1e-3)
    tripled = (bits.astype(U32) << 16).view(F32) * 3
    found = (done.outputs[2].view(np.uint16).astype(U32) << 16).view(F32)
    assert np.allclose(found, tripled, rtol=2**-8)


async def test_neighbours_in_a_word_may_change_in_place(honest: Program, tmp_path: Path) -> None:
    """Threads that read and write their own halves or bytes of a word do not race, in one wave or in several."""
    halves, small = np.arange(200, dtype=np.float16), np.arange(200, dtype=np.int8) % 100
    plan = honest.plan({"h": halves, "b": small}, ["h", "b"], ["h", "b"])
    plan.launch("halves_in_place", "h", block=190).launch("bytes_in_place", "b", block=190)
    done = await plan.replay(tmp_path)
    assert not done.findings
    assert np.array_equal(done.outputs[0][1:191], halves[1:191] + 2)
    assert np.array_equal(done.outputs[1][3:193], small[3:193] + 2)


async def test_vector_accesses(honest: Program, tmp_path: Path) -> None:
    """`float4` moves 16 bytes; wider vectors are checked too."""
    a, w = normal(64, 4), normal(64, 16)
    buffers = {"a": a, "c": np.empty_like(a), "w": w, "v": np.empty_like(w)}
    plan = honest.plan(buffers, ["a", "w"], ["c", "v"])
    done = await plan.launch("vectors", "a", "c", I32(64)).launch("wide", "w", "v").replay(tmp_path)
    assert np.array_equal(done.outputs[0], a[:, ::-1])
    assert np.array_equal(done.outputs[1], w * 2)


async def test_wide_access_out_of_bounds(honest: Program, tmp_path: Path) -> None:
    """A vector of 64 bytes that ends past its buffer is found."""
    w = normal(63, 16)
    plan = honest.plan({"w": w, "v": np.empty((64, 16), F32)}, ["w"], ["v"])
    done = await plan.launch("wide", "w", "v").replay(tmp_path)
    assert {finding.kind for finding in done.findings} == {Finding.OUT_OF_BOUNDS}


async def test_mathematics(honest: Program, tmp_path: Path) -> None:
    """ocml's functions are there and right."""
    bell = statistics.NormalDist()
    x = normal(64).astype(F64).clip(-3, 3)
    plan = honest.plan({"x": x.astype(F32), "y": np.empty(64, F32)}, ["x"], ["y"])
    done = await plan.launch("mathematics", "x", "y").replay(tmp_path)
    size = np.abs(x)
    expected = np.tanh(x) + (x * x + 1) ** -0.5 + np.log1p(size) + size**1.5 + np.sin(x) + 1 / (x * x + 2) + 2**x
    expected += np.fmod(x, F64(F32(0.7)))
    expected += [math.erf(v) + bell.cdf(v) + bell.inv_cdf((v / 4 + 1) / 2) / math.sqrt(2) for v in x]
    assert np.allclose(done.outputs[0], expected, rtol=1e-5, atol=1e-5)


async def test_matrix_instructions(honest: Program, tmp_path: Path) -> None:
    """MFMA of half and single precision, exactly as the layouts of the manual say; their operations are counted."""
    a, b = (normal(32, 32, seed=s).astype(np.float16) for s in (0, 1))
    fa, fb = a.astype(F32), b.astype(F32)
    buffers = {"a": a, "b": b, "fa": fa, "fb": fb, "c": np.empty((32, 32), F32), "d": np.empty((32, 32), F32)}
    plan = honest.plan(buffers, ["a", "b", "fa", "fb"], ["c", "d"])
    plan.launch("mfma16", "a", "b", "c", I32(32), grid=(2, 2)).launch("mfma32", "fa", "fb", "d", I32(32))
    done = await plan.replay(tmp_path)
    for output in done.outputs:
        assert np.allclose(output, fa @ fb.T, atol=1e-4)
    counted = await plan.replay(tmp_path, sample_blocks=2)
    assert [c.matrix_flops for c in counted.counters] == [2 * 32**3, 2 * 32**3]


async def test_uninitialised_reads_without_effect(honest: Program, tmp_path: Path) -> None:
    """What nobody wrote may be read and thrown away."""
    x = normal(50)
    plan = honest.plan({"x": x, "y": np.empty_like(x)}, ["x"], ["y"])
    done = await plan.launch("ragged", "x", "y", I32(50)).replay(tmp_path)
    assert done.findings == []
    assert np.array_equal(done.outputs[0], x * 2)


async def test_static_kernels_and_fences(honest: Program, tmp_path: Path) -> None:
    """Kernels with internal linkage have one name in all passes; a fence brings the lanes of a wave together."""
    buffers = {name: np.empty(64, I32) for name in "abc"}
    plan = honest.plan(buffers, [], list("abc")).launch("is_static", "a").launch("is_anonymous", "b")
    done = await plan.launch("fenced", "c").replay(tmp_path)
    assert [o.tolist() for o in done.outputs] == [[3] * 64, [4] * 64, list(range(63, -1, -1))]


async def test_printing_and_assertions(honest: Program, tmp_path: Path) -> None:
    """A device printf says nothing and an assertion that holds does nothing."""
    plan = honest.plan({"y": np.empty(64, I32)}, [], ["y"])
    assert (await plan.launch("talks", "y").replay(tmp_path)).outputs[0].tolist() == [1] * 64


async def test_conversions_and_copies(honest: Program, tmp_path: Path) -> None:
    """Operations other than launches: strided conversion, copy, fill."""
    x = normal(6, 4)
    buffers = {"x": x, "t": np.empty((4, 6), np.float16), "u": np.empty((4, 6), np.float16), "z": np.empty(8, I32)}
    plan = honest.plan(buffers, ["x"], ["t", "u", "z"])
    convert = plan.message.operations.add(phase=2).convert
    convert.source, convert.destination = 0, 1
    convert.source_view.MergeFrom(_view("float32", [4, 6], [1, 4]))
    convert.destination_view.MergeFrom(_view("float16", [4, 6], [6, 1]))
    copy = plan.message.operations.add(phase=2).copy
    copy.source, copy.destination, copy.size_bytes = 1, 2, 48
    fill = plan.message.operations.add(phase=2).fill
    fill.buffer, fill.size_bytes, fill.pattern = 3, 32, I32([5, 6]).tobytes()
    done = await plan.replay(tmp_path)
    assert np.array_equal(done.outputs[0], x.T.astype(np.float16))
    assert np.array_equal(done.outputs[1], x.T.astype(np.float16))
    assert done.outputs[2].tolist() == [5, 6] * 4


@pytest.mark.parametrize("dtype", list(bundle.DTYPES))
async def test_conversions_match_torch(honest: Program, tmp_path: Path, dtype: str) -> None:
    """From single precision to every dtype and back, as torch rounds."""
    import torch

    x = np.concatenate([normal(200) * F32(20), np.array([0, 1, -1, 0.5, 1.5, 2.5, 100, 2**-9], F32)])
    x = np.abs(x) if dtype == "uint8" else x
    plan = honest.plan({"x": x, "t": np.empty(x.size, F64), "y": np.empty_like(x)}, ["x"], ["y"])
    for source, target, kinds in ((0, 1, ("float32", dtype)), (1, 2, (dtype, "float32"))):
        convert = plan.message.operations.add(phase=2).convert
        convert.source, convert.destination = source, target
        convert.source_view.MergeFrom(_view(kinds[0], [x.size], [1]))
        convert.destination_view.MergeFrom(_view(kinds[1], [x.size], [1]))
    done = await plan.replay(tmp_path)
    expected = torch.from_numpy(x).to(getattr(torch, dtype)).to(torch.float32).numpy()
    assert np.array_equal(done.outputs[0], expected)


async def out_of_bounds(program: Program, plan: Plan, tmp_path: Path) -> Finding:
    """The one finding of a replay that must end as UNSAFE."""
    done = await plan.replay(tmp_path)
    assert done.fault is not None
    assert done.fault[0] == Verdict.UNSAFE
    return done.only_finding()


async def test_write_past_the_end(faulty: Program, tmp_path: Path) -> None:
    """One element too far: the finding names kernel, block, thread, line and buffer."""
    plan = faulty.plan({"y": np.empty(65, F32)}, [], ["y"])
    finding = await out_of_bounds(faulty, plan.launch("past_the_end", "y", I32(65), grid=2), tmp_path)
    assert (finding.kind, finding.kernel, finding.case_id) == (Finding.OUT_OF_BOUNDS, "past_the_end", "case")
    assert (finding.block.x, finding.thread.x, finding.buffer) == (1, 1, "y")
    assert finding.location == f"kernel.hip:{line_of('faulty.hip', 'if (i <= n)')}"
    assert finding.message == (
        "thread (1, 0, 0) of block (1, 0, 0) writes 4 bytes at byte 260 of the output buffer 'y', which has 260 bytes"
    )


@pytest.mark.parametrize(
    ("kernel", "arguments", "buffer"),
    [
        ("far_away", ("y", I32(64)), "y"),
        ("before_the_start", ("x", "y"), "x"),
        ("static_lds", ("y",), "tile"),
        ("dynamic_lds", ("y",), "dynamic shared memory"),
        ("module_variable", ("y",), "table"),
    ],
)
async def test_out_of_bounds(
    faulty: Program, tmp_path: Path, kernel: str, arguments: tuple[object, ...], buffer: str
) -> None:
    """Far away, before the start, in static and dynamic shared memory, in a module variable."""
    plan = faulty.plan({"x": normal(64), "y": np.empty(64, F32)}, ["x"], ["y"])
    finding = await out_of_bounds(faulty, plan.launch(kernel, *arguments, lds=256), tmp_path)
    assert (finding.kind, finding.buffer, finding.kernel) == (Finding.OUT_OF_BOUNDS, buffer, kernel)


@pytest.mark.parametrize(
    ("kernel", "arguments", "grid", "block", "buffer"),
    [
        ("missing_barrier", ("y",), 1, 128, "tile"),
        ("missing_second_barrier", ("x", "y"), 1, 128, "tile"),
        ("missing_second_barrier_of_halves", ("x", "y"), 1, 128, "tile"),
        ("lost_updates", ("y",), 1, 64, "y"),
        ("between_blocks", ("y",), 4, 64, "y"),
        ("unpublished", ("partial", "arrived", "y"), 4, 64, "partial"),
        ("plain_and_atomic", ("arrived",), 1, 64, "arrived"),
    ],
)
async def test_races(  # noqa: PLR0917
    faulty: Program, tmp_path: Path, kernel: str, arguments: tuple[str, ...], grid: int, block: int, buffer: str
) -> None:
    """In shared memory, in global memory, between blocks, with and without atomics."""
    buffers = {"x": normal(256), "y": np.zeros(128, F32), "partial": np.empty(4, F32), "arrived": np.zeros(1, I32)}
    plan = faulty.plan(buffers, ["x", "y", "arrived"], [])
    done = await plan.launch(kernel, *arguments, grid=grid, block=block).replay(tmp_path)
    assert done.fault is not None
    assert (Finding.RACE, buffer) in {(f.kind, f.buffer) for f in done.findings}
    assert {f.buffer for f in done.findings} == {buffer}


async def test_uninitialised_reads(faulty: Program, tmp_path: Path) -> None:
    """Of shared memory and of an output; what is read as it was never written."""
    plan = faulty.plan({"x": normal(64), "y": np.empty(64, F32)}, ["x"], ["y"])
    plan.launch("unwritten_output", "x", "y").launch("unwritten_lds", "y")
    done = await plan.replay(tmp_path)
    assert [(f.kind, f.kernel, f.buffer, f.thread.x) for f in done.findings] == [
        (Finding.UNINITIALIZED_READ, "unwritten_output", "y", 0),
        (Finding.UNINITIALIZED_READ, "unwritten_lds", "tile", 32),
    ]


@pytest.mark.parametrize(("address", "said"), [(0, "a null pointer"), (0x7F1234567000, "no device memory")])
async def test_pointers_to_nowhere(faulty: Program, tmp_path: Path, address: int, said: str) -> None:
    """A null pointer or an address of the host ends the launch with a finding."""
    plan = faulty.plan({"y": np.empty(64, F32)}, [], ["y"])
    finding = await out_of_bounds(faulty, plan.launch("wrong_pointer", np.uint64(address)), tmp_path)
    assert finding.kind == Finding.HOST_POINTER
    assert said in finding.message


async def test_variable_that_nobody_set(faulty: Program, tmp_path: Path) -> None:
    """A sum that was never started is not the zero that would suit it."""
    plan = faulty.plan({"x": normal(64), "y": np.empty(64, F32)}, ["x"], ["y"])
    done = await plan.launch("sum_not_started", "x", "y").replay(tmp_path)
    assert np.isnan(done.outputs[0]).all()


@pytest.mark.parametrize("kernel", ["barrier_in_a_branch", "two_barriers"])
async def test_divergent_barriers(faulty: Program, tmp_path: Path, kernel: str) -> None:
    """A part of a wave waits where another part does not come."""
    plan = faulty.plan({"y": np.empty(64, F32)}, [], ["y"])
    finding = await out_of_bounds(faulty, plan.launch(kernel, "y"), tmp_path)
    assert finding.kind == Finding.DIVERGENT_BARRIER


async def test_misaligned_vector(faulty: Program, tmp_path: Path) -> None:
    """A `float4` at an address that is a multiple of 4 only."""
    plan = faulty.plan({"x": normal(300), "y": np.empty(256, F32)}, ["x"], ["y"])
    finding = await out_of_bounds(faulty, plan.launch("odd_address", "x", "y"), tmp_path)
    assert (finding.kind, finding.buffer) == (Finding.MISALIGNED, "x")


async def test_failed_assertion(faulty: Program, tmp_path: Path) -> None:
    """A device assertion that fails ends the candidate as CRASHED, in words."""
    plan = faulty.plan({"y": np.empty(64, I32)}, [], ["y"])
    done = await plan.launch("asserts", "y").replay(tmp_path)
    assert done.fault is not None
    assert done.fault[0] == Verdict.CRASHED
    assert "thread (0, 0, 0) of block (0, 0, 0) of the kernel asserts ended it: an assertion failed" in done.fault[1]


@pytest.mark.parametrize("kernel", ["endless"])
async def test_kernel_that_never_ends(faulty: Program, tmp_path: Path, kernel: str) -> None:
    """A loop without an access to memory meets the time limit."""
    plan = faulty.plan({"y": np.zeros(2, I32)}, ["y"], [])
    done = await plan.launch(kernel, "y", block=1).replay(tmp_path, timeout_s=1)
    assert done.fault is not None
    assert done.fault[0] == Verdict.TIMED_OUT


async def test_block_that_waits_for_a_later_one(faulty: Program, tmp_path: Path) -> None:
    """Blocks run one after another, so that waiting for one that comes later needs a GPU."""
    plan = faulty.plan({"flag": np.zeros(1, I32), "y": np.empty(2, I32)}, ["flag"], ["y"])
    done = await plan.launch("waits_for_a_block", "flag", "y", grid=2, block=1).replay(tmp_path)
    assert done.fault is not None
    assert done.fault[0] == Verdict.NEEDS_DEVICE


async def test_too_much_private_memory(faulty: Program, tmp_path: Path) -> None:
    """A thread that overflows its stack dies, and nothing else does."""
    plan = faulty.plan({"y": np.empty(1, I32)}, [], ["y"])
    done = await plan.launch("deep", "y", I32(100000), block=1).replay(tmp_path)
    assert done.fault is not None
    assert done.fault[0] == Verdict.CRASHED


async def test_huge_work_is_refused_beforehand(honest: Program, tmp_path: Path) -> None:
    """More threads than the model can run are NEEDS_DEVICE at once; a sample of the blocks is not."""
    a = normal(256)
    plan = honest.plan({"a": a, "c": np.empty_like(a)}, ["a"], ["c"])
    plan.launch("vadd", "a", "a", "c", I32(256), grid=1 << 20, block=256)
    done = await plan.replay(tmp_path)
    assert done.fault is not None
    assert done.fault[0] == Verdict.NEEDS_DEVICE
    assert (await plan.replay(tmp_path, sample_blocks=4)).counters[0].blocks == 1 << 20


async def test_launch_that_a_gpu_refuses(honest: Program, tmp_path: Path) -> None:
    """More shared memory or threads than the kernel was compiled for."""
    x = normal(128)
    plan = honest.plan({"x": x, "y": np.empty_like(x)}, ["x"], ["y"])
    plan.launch("reverse", "x", "y", block=128, lds=60 << 10)
    resources = plan.message.kernels[0].images.add(target="gfx942").resources
    resources.lds_bytes = 8 << 10
    done = await plan.replay(tmp_path)
    assert done.fault == (
        Verdict.CRASHED,
        "The kernel reverse is launched with 69632 bytes of shared memory; gfx942 has 65536.",
    )
    resources.lds_bytes, resources.max_block_threads = 0, 64
    done = await plan.replay(tmp_path)
    assert done.fault == (
        Verdict.CRASHED,
        "The kernel reverse is launched with 128 threads a block; it was compiled for 64.",
    )


async def test_upload_beyond_a_variable(honest: Program, tmp_path: Path) -> None:
    """Host code that writes past a module variable ends the candidate."""
    plan = honest.plan({"y": np.empty(1, F32)}, [], ["y"])
    upload = plan.message.operations.add(phase=2).upload
    upload.variable, upload.offset, upload.data = "coefficients", 12, bytes(8)
    done = await plan.launch("variables", "y").replay(tmp_path)
    assert done.fault == (Verdict.CRASHED, "operations[0].upload: writes beyond the 16 bytes of 'coefficients'")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('asm volatile("v_mov_b32 v0, 1");', "`v_mov_b32` as inline assembly"),
        ("y[0] = __builtin_amdgcn_cubeid(1, 2, 3);", "no __builtin_amdgcn_cubeid"),
        ("managed = 1;", "__managed__"),
        ("y[0] = *(double*)malloc(8);", "__ockl_dm_alloc"),
        ("__tsan_write8(y);", "defines the function __tsan_write8"),
    ],
)
async def test_what_the_model_cannot_run(  # noqa: PLR0917
    sandbox: Sandbox, toolchain: Toolchain, model: cpu_model.CpuModel, tmp_path: Path, body: str, said: str
) -> None:
    """What compiles for the GPU and has no meaning here is NEEDS_DEVICE, and the explanation names it."""
    source = tmp_path / "source.hip"
    variable = "__managed__ int managed;" if "managed" in body else ""
    if "__tsan" in body:
        variable = 'extern "C" __device__ void __tsan_write8(void*) {}'
    text = f"#include <hip/hip_runtime.h>\n{variable}\n__global__ void kernel(double* y) {{ {body} }}\n"
    source.write_text(text)
    with pytest.raises(Refused) as refused:
        await compile_program(sandbox, toolchain, tmp_path / "it", source, model)
    assert refused.value.verdict == Verdict.NEEDS_DEVICE
    assert said in refused.value.explanation


async def test_only_the_interface_leaves_the_image(
    sandbox: Sandbox, toolchain: Toolchain, honest: Program, tmp_path: Path
) -> None:
    """No symbol of a candidate is visible: it can neither shadow the runtime's nor be called."""
    command = (toolchain.tool("llvm-nm"), "-D", "--defined-only", "--format=just-symbols", str(honest.built.image))
    outcome = await toolchain.run(sandbox, tmp_path, *command, readable=(honest.built.image,))
    symbols = outcome.stdout.decode().split()
    assert symbols
    assert [symbol for symbol in symbols if not symbol.startswith("kv_")] == []


async def test_device_switch_aims_at_x86(sandbox: Sandbox, toolchain: Toolchain, tmp_path: Path) -> None:
    """A canary: clang's -fcuda-is-device, undocumented off the GPU, still gives kernels plain bodies on x86-64."""
    (tmp_path / "it.hip").write_text(
        "__attribute__((global)) void kernel(int* y) { __attribute__((shared)) static int s; s = *y; *y = s; }\n"
        "__attribute__((device)) int variable;\nvoid host_only() {}\n"
    )
    command = [
        toolchain.tool("clang++"),
        *toolchain.cpu_flags(),
        "-w",
        *("-Xclang", "-disable-llvm-passes"),
        "-S",
        "-emit-llvm",
        "it.hip",
        "-o",
        "it.ll",
    ]
    outcome = await toolchain.run(sandbox, tmp_path, *command)
    assert outcome.ok, outcome.stderr
    text = (tmp_path / "it.ll").read_text()
    assert "define dso_local void @_Z6kernelPi(ptr" in text or "define void @_Z6kernelPi(ptr" in text
    assert "host_only" not in text
    assert "device_stub" not in text
    assert "undef" in next(line for line in text.splitlines() if line.startswith("@_ZZ6kernelPiE1s"))
    assert "externally_initialized global i32 0" in text


def _struct(size: int, offset: int, *members: np.generic) -> bytes:
    """A struct whose members from `offset` on are laid out in a row."""
    return (bytes(offset) + b"".join(member.tobytes() for member in members)).ljust(size, b"\x5a")


def _relocate(plan: Plan, pointers: dict[int, str]) -> None:
    """Makes bytes of the last launch pointers to buffers."""
    launch = plan.message.operations[-1].launch
    names = [buffer.name for buffer in plan.message.buffers]
    for at, name in pointers.items():
        launch.relocations.add(at=at, buffer=names.index(name), offset=0)


def _view(dtype: str, dims: list[int], strides: list[int]) -> object:
    from kernelvault.v1 import kernel_pb2

    return kernel_pb2.TensorView(dtype=dtype, dims=dims, strides=strides)
