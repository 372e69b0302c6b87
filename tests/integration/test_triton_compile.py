"""Triton programs compiled for AMD: the real compiler in the real sandbox."""

from __future__ import annotations

import math
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from kernelvault import devices
from kernelvault.replay import occupancy
from kernelvault.replay.triton import program as programs
from kernelvault.sandbox.metering import MeteredSandbox, metered
from kernelvault.v1 import compiler_pb2, plan_pb2, triton_pb2
from svc_compiler.refusal import Refused
from svc_compiler.stores import check_stores
from svc_compiler.triton import compile as triton_compile
from svc_compiler.triton import images, ranking
from svc_compiler.triton.compile import TritonBuild, compile_program
from tests.triton_programs import FILE, add_variant, program

pytestmark = pytest.mark.asyncio(loop_scope="module")
TARGETS = ("gfx90a", "gfx942", "gfx950")
SHAPES = "3:9: ValueError: Cannot make_shape_compatible: incompatible dimensions at index 0: 64 and 32"
ERROR = compiler_pb2.Diagnostic.ERROR
NOTE = compiler_pb2.Diagnostic.NOTE
SOFTMAX = """
def softmax(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * n + cols, e / tl.sum(e, axis=0), mask=cols < n)
"""
ROWS = {"x_ptr": "*fp32", "y_ptr": "*fp32", "n": "i32", "BLOCK": [1024]}
MATMUL = """
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    rn = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rm * K + rk[None, :], mask=(rm < M) & (rk[None, :] < K), other=0.0)
        b = tl.load(b_ptr + rk[:, None] * N + rn, mask=(rk[:, None] < K) & (rn < N), other=0.0)
        acc += tl.dot(a, b)
    tl.store(c_ptr + rm * N + rn, acc.to(c_ptr.dtype.element_ty), mask=(rm < M) & (rn < N))
"""
TRANSPOSE = """
def transpose(x_ptr, y_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    r = tl.arange(0, ROWS)
    c = tl.arange(0, COLUMNS)
    x = tl.load(x_ptr + r[:, None] * COLUMNS + c[None, :])
    tl.store(y_ptr + c[:, None] * ROWS + r[None, :], tl.trans(x))
"""
SIZES: dict[str, object] = {"M": "i32", "N": "i32", "K": "i32"}
POINTERS: dict[str, object] = {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp16"}


def tile(rows: int, columns: int, depth: int) -> dict[str, object]:
    """A matmul's arguments with these block sizes."""
    return {**POINTERS, **SIZES, "BM": [rows], "BN": [columns], "BK": [depth]}


def block(rows: int, columns: int) -> dict[str, object]:
    """A transpose's arguments; all of the block goes through LDS, 4 bytes an element."""
    return {"x_ptr": "*fp32", "y_ptr": "*fp32", "ROWS": [rows], "COLUMNS": [columns]}


def softmax() -> triton_pb2.TritonProgram:
    """One softmax."""
    return program(SOFTMAX, "softmax", ROWS, num_warps=4)


def kernel(*lines: str, before: str = "") -> triton_pb2.TritonProgram:
    """A kernel with this body, which begins in line 3 behind `before`; `p` are 64 places."""
    body = ["p = tl.arange(0, 64)", *lines]
    text = before + "def kernel(x_ptr, n):\n" + "".join(f"    {line}\n" for line in body)
    return program(text, "kernel", {"x_ptr": "*fp32", "n": "i32"})


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def sandbox() -> AsyncIterator[MeteredSandbox]:
    """Warm."""
    started = await MeteredSandbox.start(triton_compile.PRELOAD)
    yield started
    await started.close()


class Compiler:
    """Compiles in a folder of its own."""

    def __init__(self, sandbox: MeteredSandbox, folder: Path) -> None:
        self._sandbox = sandbox
        self._folder = folder

    async def __call__(self, made: triton_pb2.TritonProgram, target: str = "gfx942", **options: Any) -> TritonBuild:
        """A build of one target."""
        programs.check(made)
        return await compile_program(self._sandbox, self._folder, made, target, options.pop("timeout_s", 60), **options)


@pytest.fixture
def compiler(sandbox: MeteredSandbox, tmp_path: Path) -> Compiler:
    """The compiler under test."""
    return Compiler(sandbox, tmp_path)


def told(build: TritonBuild) -> list[str]:
    """The errors as lines."""
    return [f"{d.file}:{d.line}:{d.column}: {d.message}" for d in build.build.diagnostics if d.level == ERROR]


# What a build holds


@pytest.mark.parametrize("target", TARGETS)
async def test_softmax(compiler: Compiler, target: str) -> None:
    """Code object, symbol, block, argument layout, resources, instructions."""
    made = softmax()
    name = made.variants[0].name

    built = await compiler(made, target)

    image = built.images[name]
    assert built.build.compiled
    assert [(k.name, k.display_name) for k in built.build.kernels] == [(name, "softmax[BLOCK=1024, num_warps=4]")]
    assert images.is_code_object(built.objects[name].read_bytes(), target)
    assert (image.target, image.symbol, image.block_threads) == (target, "softmax", 256)
    assert [(slot.name, slot.offset, slot.size, slot.hidden) for slot in image.layout] == [
        ("x_ptr", 0, 8, False),
        ("y_ptr", 8, 8, False),
        ("n", 16, 4, False),
        ("global_scratch", 24, 8, True),
        ("profile_scratch", 32, 8, True),
    ]
    resources = image.resources
    assert 0 < resources.vgprs < 64
    assert (resources.spilled_registers, resources.wave_size, resources.max_block_threads) == (0, 64, 256)
    assert resources.lds_bytes == 16
    assert (resources.occupancy_waves, resources.occupancy_limit) == (8, "waves")
    classes = resources.instructions
    assert classes["transcendental"] >= 4
    assert any(kind.startswith("global_load") for kind in classes)
    assert any(kind.startswith("global_store") for kind in classes)
    assert not any(kind.startswith("mfma") for kind in classes)


@pytest.mark.parametrize("target", TARGETS)
async def test_matmul_uses_matrix_cores(compiler: Compiler, target: str) -> None:
    """LDS comes from Triton's metadata, as the code object's note knows of none; occupancy counts it."""
    made = program(MATMUL, "matmul", tile(64, 64, 64), num_warps=4, num_stages=2)

    resources = (await compiler(made, target)).images[made.variants[0].name].resources

    assert resources.instructions["mfma_f16"] > 0
    assert 0 < resources.lds_bytes <= devices.lds_bytes(target)
    fit = occupancy.of(
        target,
        registers=resources.vgprs + resources.agprs,
        sgprs=resources.sgprs,
        lds_bytes=resources.lds_bytes,
        threads=256,
    )
    assert (resources.occupancy_waves, resources.occupancy_limit) == (fit.waves, fit.limit)


@pytest.mark.slow
async def test_large_tile_spills(compiler: Compiler) -> None:
    """A tile beyond the register file shows as spilled registers, scratch memory and a low occupancy."""
    made = program(MATMUL, "matmul", tile(256, 256, 64), num_warps=4, num_stages=2)

    resources = (await compiler(made)).images[made.variants[0].name].resources

    assert resources.spilled_registers > 100
    assert resources.scratch_bytes > 0
    assert (resources.vgprs + resources.agprs, resources.occupancy_waves) == (512, 1)


async def test_options_reach_the_compiler(compiler: Compiler) -> None:
    """`waves_per_eu` asks for room for that many waves: fewer registers; `num_warps` sets the block."""
    arguments = tile(128, 128, 32)
    made = program(MATMUL, "matmul", arguments, num_warps=4)
    add_variant(made, 0, arguments, num_warps=4, waves_per_eu=4)
    add_variant(made, 0, arguments, num_warps=8, matrix_instr_nonkdim=16)

    built = await compiler(made)

    plain, crowded, wide = (built.images[variant.name] for variant in made.variants)
    assert plain.resources.occupancy_waves < 4 <= crowded.resources.occupancy_waves
    assert (plain.block_threads, wide.block_threads) == (256, 512)


async def test_language_of_kernels(compiler: Compiler) -> None:
    """Helpers, own reductions, library functions, loops, conditions, atomics, random numbers, block pointers."""
    helpers = (
        "def add(a, b):\n    return a + b\n\n\ndef twice(v, factor: tl.constexpr = 2):\n    return v * factor\n\n\n"
    )
    made = kernel(
        "v = tl.load(x_ptr + p, mask=p < n, other=0.0)",
        "v = twice(libdevice.tanh(v)) + tl.reduce(v, 0, add) + tl.associative_scan(v, 0, add)",
        "v += tl.rand(n, p) + math.pi + libdevice.erf(v) + tl.sort(v) + triton.cdiv(7, 2)",
        "for i in tl.static_range(3):",
        "    v = tl.where(v > i, v, -v) if i > 1 else v",
        "for j in tl.range(0, n, num_stages=2):",
        "    v += tl.load(x_ptr + j)",
        "while n > 3:",
        "    n = n // 2",
        "block = tl.make_block_ptr(x_ptr, (64,), (1,), (0,), (64,), (0,))",
        "tl.store(block, v)",
        "tl.atomic_add(x_ptr + p, v.to(tl.float32), mask=p < n)",
        before=helpers,
    )

    built = await compiler(made)

    assert told(built) == []
    assert built.images[made.variants[0].name].resources.instructions["global_atomic"] > 0


@pytest.mark.parametrize("target", TARGETS)
async def test_arguments_of_all_types(compiler: Compiler, target: str) -> None:
    """They lie where `argument_slots` says; the build would fail otherwise."""
    kinds = "i1 u1 i8 u8 i16 u16 i32 u32 i64 u64 fp16 bf16 fp32 fp64".split()  # noqa: SIM905 reads better
    types = {f"a{i}": kind for i, kind in enumerate([*kinds, *reversed(kinds)])}
    pointers = {f"p{i}": f"*{kind}" for i, kind in enumerate([*kinds, "kfp16", "fp8e4nv", "fp8e5", "fp8e4b8"])}
    lines = [f"    v += {name}.to(tl.float32)\n" for name in types]
    lines += [f"    v += tl.load({name}).to(tl.float32)\n" for name in pointers]
    arguments = {"out": "*fp32", **types, **pointers}
    text = f"def k({', '.join(arguments)}):\n    v = 0.0\n" + "".join(lines) + "    tl.store(out, v)\n"
    made = program(text, "k", arguments)

    built = await compiler(made, target)

    layout = built.images[made.variants[0].name].layout
    assert [slot.name for slot in layout] == [*arguments, "global_scratch", "profile_scratch"]


async def test_helper_that_is_not_inlined(compiler: Compiler) -> None:
    """Its instructions count as its caller's."""
    made = kernel("tl.store(x_ptr + p, f(n))", before="def f(v):\n    return tl.exp(v * 1.0)\n\n\n")
    made.functions[0].noinline = True
    made.variants[0].name = programs.variant_name(made, made.variants[0])

    classes = (await compiler(made)).images[made.variants[0].name].resources.instructions

    assert classes["call"] > 0
    assert classes["transcendental"] > 0


async def test_same_program_gives_the_same_bytes(compiler: Compiler) -> None:
    """In another process and folder, too; nothing of this machine is in them."""
    made = softmax()
    name = made.variants[0].name

    first, second = [(await compiler(made)).objects[name].read_bytes() for _ in range(2)]

    assert first == second
    assert not re.search(rb"site-packages|/tmp|\.triton-", first)


async def test_program_without_variants(compiler: Compiler) -> None:
    """A candidate that launches nothing is not the compiler's concern."""
    built = await compiler(triton_pb2.TritonProgram())
    assert (built.build.compiled, built.images) == (True, {})


# What does not compile


@pytest.mark.parametrize(
    ("lines", "error"),
    [
        (["v = tl.arange(0, n)"], "3:9: arange's arguments must be of type tl.constexpr"),
        (["v = tl.arange(0, 100)"], "3:9: arange's range must be a power of 2"),
        (["for i in range(n):", "    break"], "4:9: unsupported AST node type: Break"),
        (["tl.static_assert(1 == 2, 'must be even')"], "3:5: must be even"),
        (["v = tl.sum(p, axis=3)"], "3:9: invalid axis 3. Expected -1 <= axis < 1"),
        (["v = tl.no_such(p)"], "3:9: AttributeError: module 'triton.language' has no attribute 'no_such'"),
        (
            ["v = p + tl.arange(0, 32)"],
            SHAPES,
        ),
        (["v = tl.load(x_ptr + p).to(tl.float8e4b15)"], "3:9: target doesn't provide conversion for this type."),
    ],
)
async def test_error_names_file_and_line(compiler: Compiler, lines: list[str], error: str) -> None:
    """As the author sees them, with what Triton said."""
    built = await compiler(kernel(*lines))
    assert not built.build.compiled
    assert told(built) == [f"{FILE}:{error}"]


async def test_error_in_a_helper_names_the_call_too(compiler: Compiler) -> None:
    """The cause first, then the way there."""
    made = kernel("v = tl.load(x_ptr + p)", "square(v)", before="def square(v):\n    return tl.dot(v, v)\n\n\n")

    diagnostics = (await compiler(made)).build.diagnostics

    assert [(d.level, d.file, d.line, d.message) for d in diagnostics] == [
        (ERROR, FILE, 2, "input and other must have equal ranks >= 2"),
        (NOTE, FILE, 8, "called from here"),
    ]


async def test_error_of_a_pass_names_the_line(compiler: Compiler) -> None:
    """The passes print; their consequences are left out."""
    made = kernel(
        "m = p[:, None] * 64 + p[None, :]",
        "v = tl.load(x_ptr + m).to(tl.float8e5)",
        "tl.store(x_ptr + m, tl.dot(v, v.to(tl.float8e4nv)))",
    )
    assert told(await compiler(made)) == [f"{FILE}:5:40: Unsupported conversion from 'f8E5M2' to 'f8E4M3FN'"]


@pytest.mark.parametrize(
    ("text", "constraints", "error"),
    [
        ("v_bogus $0, $1", "=v,v", "invalid instruction: v_bogus v1, v0"),
        (".incbin '/etc/passwd'", "=v,v", "expected string in '.incbin' directive: .incbin '/etc/passwd'"),
        ('.incbin \\"/etc/passwd\\"', "=v,v", "Could not find incbin file '/etc/passwd': .incbin \"/etc/passwd\""),
    ],
)
async def test_error_of_the_assembler(compiler: Compiler, text: str, constraints: str, error: str) -> None:
    """It is told with the instruction; files of this machine cannot be read into a code object."""
    line = f'v = tl.inline_asm_elementwise("{text}", "{constraints}", [p], dtype=tl.int32, is_pure=True, pack=1)'
    assert told(await compiler(kernel(line, "tl.store(x_ptr + p, v)"))) == [f"{FILE}:1:1: {error}"]


async def test_metadata_is_the_compilers_own(compiler: Compiler) -> None:
    """An author's assembly may hold text that looks like it: it is refused, or does not count."""
    fake = (
        r"\n.amdgpu_metadata\n---\namdhsa.kernels:\n  - .vgpr_count: 1\n    .name: kernel\n...\n.end_amdgpu_metadata\n"
    )
    for text in (fake + "v_mov_b32 $0, $1", "v_mov_b32 $0, $1 ; amdhsa.kernels:\\n  - .vgpr_count: 1"):
        line = f'v = tl.inline_asm_elementwise("{text}", "=v,v", [p], dtype=tl.int32, is_pure=True, pack=1)'
        made = kernel(line, "tl.store(x_ptr + p, v)")
        built = await compiler(made)
        if built.build.compiled:
            image = built.images[made.variants[0].name]
            assert (image.resources.vgprs > 1, len(image.layout)) == (True, 4)
        else:
            assert told(built)


async def test_crash_of_the_compiler_is_one_variants_fault(compiler: Compiler) -> None:
    """LLVM ends its process over a strange constraint; the other variants still compile.

    Python warns of `1 is 2`, which is no exception of ours.
    """
    line = 'v = tl.inline_asm_elementwise("v_mov_b32 $0, $1", "=q,v", [p], dtype=tl.int32, is_pure=True, pack=1)'
    made = kernel("w = 3 if 1 is 2 else 4", line, "tl.store(x_ptr + p, v)")
    other = softmax()
    made.functions.extend(other.functions)
    for options in ({}, {"num_warps": 8}):
        add_variant(made, 1, ROWS, **options)

    built = await compiler(made)

    assert told(built) == [
        f"{FILE}:1:1: couldn't allocate output register for constraint 'q'",
        f"{FILE}:1:1: Triton's compiler gave up on this kernel (exit code 1)",
    ]
    assert sorted(built.images) == sorted(variant.name for variant in made.variants[1:])


async def test_lds_of_a_target_is_the_limit(compiler: Compiler) -> None:
    """128 KiB fit gfx950 only; the numbers are told."""
    made = program(TRANSPOSE, "transpose", block(128, 256), num_warps=8)

    small, large = await compiler(made, "gfx942"), await compiler(made, "gfx950")

    assert told(small) == [
        f"{FILE}:2:1: the kernel takes 131072 bytes of LDS, and a compute unit of gfx942 has 65536: use smaller blocks "
        "or fewer num_stages"
    ]
    resources = large.images[made.variants[0].name].resources
    assert (resources.lds_bytes, resources.occupancy_waves, resources.occupancy_limit) == (131072, 2, "lds")


async def test_way_out_of_the_language_is_refused(compiler: Compiler) -> None:
    """What only the child can check is told like a compile error; nothing of it runs."""
    made = kernel("tl.core.builtins.open('/tmp/out', 'w')")
    with pytest.raises(Refused) as raised:
        await compiler(made)
    assert str(raised.value) == (
        f"COMPILE_FAILED: Compilation failed:\n{FILE}:3: `tl.core.builtins.open` is not for kernels"
    )


@pytest.mark.parametrize("line", ["x = 9 ** 9 ** 9", "y = (1,)\n    for i in tl.static_range(60):\n        y = y + y"])
async def test_hang_is_bounded(compiler: Compiler, line: str) -> None:
    """Constants are computed by the compiler."""
    with pytest.raises(Refused) as raised:
        await compiler(kernel(line), timeout_s=2)
    assert raised.value.verdict == compiler_pb2.VerificationReport.TIMED_OUT
    assert raised.value.explanation == (
        "For gfx942, compiling kernel does not end within 2 s (0 of 1 variants were done)."
    )


async def test_memory_is_bounded(compiler: Compiler) -> None:
    """A constant of 8 GiB."""
    with pytest.raises(Refused) as raised:
        await compiler(kernel("x = 'a' * (1 << 33)"))
    assert raised.value.verdict == compiler_pb2.VerificationReport.COMPILE_FAILED
    assert raised.value.explanation == (
        "For gfx942, compiling kernel needs more than 4 GiB of memory; use smaller blocks (0 of 1 variants were done)."
    )


async def test_kernel_without_a_store_is_rejected(compiler: Compiler) -> None:
    """As with HIP: a launch for show."""
    made = kernel("v = tl.load(x_ptr + p)")
    built = await compiler(made)
    with pytest.raises(Refused, match="REJECTED: The kernel kernel is launched, but its gfx942 code holds no store"):
        check_stores([built], made.variants[0].name)


# Autotuned launches


def tuned_plan(made: triton_pb2.TritonProgram) -> plan_pb2.LaunchPlan:
    """A plan that launches the first variant, with the others as alternatives; the grid's x tells which is which."""
    plan = plan_pb2.LaunchPlan()
    for variant in made.variants:
        plan.kernels.add(name=variant.name, display_name=programs.display_name(made, variant))
    launch = plan.operations.add().launch
    launch.grid.x = 1
    for i in range(1, len(made.variants)):
        launch.alternatives.add(kernel=i).grid.x = i + 1
    return plan


async def test_best_configuration_is_chosen(compiler: Compiler) -> None:
    """Those that fail on a target are dropped, the rest stand by occupancy; kernels without a launch leave the plan."""
    made = program(TRANSPOSE, "transpose", block(128, 256), num_warps=8)  # too much LDS for gfx942
    add_variant(made, 0, block(128, 128), num_warps=8)
    add_variant(made, 0, block(32, 32), num_warps=4)
    plan = tuned_plan(made)
    optional = ranking.alternatives([plan])
    assert optional == {variant.name for variant in made.variants}

    builds = [await compiler(made, target, alternatives=optional) for target in ("gfx942", "gfx950")]
    ranking.choose(plan, builds)

    assert [build.build.compiled for build in builds] == [True, True]
    assert [d.message.split(": ")[0] for d in builds[0].build.diagnostics] == [
        "the configuration transpose[ROWS=128, COLUMNS=256, num_warps=8] is left out"
    ]
    launch = plan.operations[0].launch
    assert (launch.grid.x, [other.grid.x for other in launch.alternatives]) == (3, [2])
    assert [plan.kernels[one.kernel].name for one in (launch, *launch.alternatives)] == [
        made.variants[2].name,
        made.variants[1].name,
    ]
    assert len(plan.kernels) == 2


async def test_no_configuration_compiles(compiler: Compiler) -> None:
    """Is a failed compilation, with the reasons."""
    made = kernel("v = tl.arange(0, n)")
    add_variant(made, 0, {"x_ptr": "*fp32", "n": "i32"}, num_warps=8)
    plan = tuned_plan(made)
    built = await compiler(made, alternatives=ranking.alternatives([plan]))
    with pytest.raises(Refused) as raised:
        ranking.choose(plan, [built])
    assert raised.value.explanation.startswith(
        "None of the 2 configurations of kernel compiles for all targets:\n"
        f"{FILE}:3: the configuration kernel is left out: arange's arguments must be of type tl.constexpr [gfx942]"
    )


async def test_alternative_that_hangs_is_left_out(compiler: Compiler) -> None:
    """It takes the time that is left, and no verdict."""
    made = softmax()
    made.functions.extend(kernel("x = 9 ** 9 ** 9").functions)
    slow = add_variant(made, 1, {"x_ptr": "*fp32", "n": "i32"}).name

    built = await compiler(made, timeout_s=3, alternatives={slow})

    assert built.build.compiled
    assert [(d.level, d.message) for d in built.build.diagnostics] == [
        (NOTE, "the configuration kernel is left out: compiling kernel does not end within 3 s")
    ]


# Speed


async def test_warm_compilation_is_cheap(sandbox: MeteredSandbox, compiler: Compiler) -> None:
    """A softmax costs about 0.07 CPU seconds a target; the first in a cold process takes 0.4."""
    await sandbox.ready()
    spent = []
    for _ in range(3):
        with metered() as meter:
            await compiler(softmax())
        spent.append(math.fsum(meter.values()))
    assert min(spent) < 0.3
