"""The GPU pass, with the real compiler in the real sandbox."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kernelvault.sandbox import Sandbox
from kernelvault.v1 import compiler_pb2
from svc_compiler.hip import precompiled
from svc_compiler.hip.gpu import GpuBuild, compile_gpu
from svc_compiler.hip.toolchain import TARGETS, Toolchain
from svc_compiler.refusal import Refused
from svc_compiler.stores import check_stores

PREFIX = Path(os.environ.get("KERNELVAULT_TOOLCHAIN", "~/.cache/kernelvault/toolchain"))
RUNTIME = "#include <hip/hip_runtime.h>\n"
ADD = RUNTIME + (
    "__global__ void add(const float* a, const float* b, float* c, int n) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n) c[i] = a[i] + b[i];\n"
    "}\n"
)


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    """A bare sandbox."""
    started = await Sandbox.start()
    yield started
    await started.close()


@pytest.fixture(scope="module")
def toolchain(tmp_path_factory: pytest.TempPathFactory) -> Toolchain:
    """With a cache that the tests of this module share."""
    return Toolchain.find(PREFIX, tmp_path_factory.mktemp("cache"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the sources lie."""
    made = tmp_path / "sources"
    made.mkdir()
    return made


async def build(sandbox: Sandbox, toolchain: Toolchain, folder: Path, text: str, target: str = "gfx942") -> GpuBuild:
    """Compiles one file."""
    (folder / "main.hip").write_text(text)
    return await compile_gpu(sandbox, toolchain, folder, "main.hip", target)


@pytest.mark.parametrize("target", TARGETS)
async def test_vector_add(sandbox: Sandbox, toolchain: Toolchain, folder: Path, target: str) -> None:
    """Name, layout, resources and instructions of a simple kernel, for each target."""
    built = await build(sandbox, toolchain, folder, ADD, target)
    [kernel] = built.build.kernels
    assert kernel.display_name == "add(float const*, float const*, float*, int)"
    slots = [(slot.name, slot.offset, slot.size, slot.hidden) for slot in built.layouts[kernel.name]]
    assert slots == [("a", 0, 8, False), ("b", 8, 8, False), ("c", 16, 8, False), ("n", 24, 4, False)]
    made = built.resources[kernel.name]
    assert (made.wave_size, made.lds_bytes, made.spilled_registers, made.occupancy_limit) == (64, 0, 0, "waves")
    assert (made.instructions["global_load_b32"], made.instructions["global_store_b32"]) == (2, 1)
    assert built.code_object is not None
    assert built.code_object.read_bytes().startswith(b"\x7fELF")


MISTAKES = {
    "unknown builtin": (
        "typedef float f4 __attribute__((ext_vector_type(4)));\n"
        "typedef _Float16 h4 __attribute__((ext_vector_type(4)));\n"
        "__global__ void k(h4* a, f4* c) { c[0] = __builtin_amdgcn_mfma_f32_16x16x16_f16(a[0], a[1], c[0], 0, 0, 0); }",
        4,
        "did you mean '__builtin_amdgcn_mfma_f32_16x16x16f16'?",
    ),
    "another target's builtin": (
        "typedef float f4 __attribute__((ext_vector_type(4)));\n"
        "typedef _Float16 h8 __attribute__((ext_vector_type(8)));\n"
        "__global__ void k(h8* a, f4* c) { c[0] = __builtin_amdgcn_mfma_f32_16x16x32_f16(a[0], a[1], c[0], 0, 0, 0); }",
        4,
        "needs target feature gfx950-insts",
    ),
    "too much LDS": (
        "__global__ void k(float* x, int n) {\n"
        "    __shared__ float s[20000];\n"
        "    for (int i = threadIdx.x; i < 20000; i += blockDim.x) s[i] = x[i] * 2;\n"
        "    __syncthreads();\n"
        "    x[n] = s[n % 20000];\n}",
        2,
        "local memory (80000) exceeds limit (65536)",
    ),
    "host function": (
        "float half(float x) { return x / 2; }\n__global__ void k(float* x) { x[0] = half(x[0]); }",
        3,
        "no matching function for call to 'half'",
    ),
    "CUDA header": (
        "#include <cublas_v2.h>\n__global__ void k(float* x) { x[0] = 1; }",
        2,
        "'cublas_v2.h' file not found",
    ),
    "32-bit mask": (
        "__global__ void k(float* x) { x[0] = __shfl_down_sync(0xffffffff, x[0], 16); }",
        0,
        "The mask must be a 64-bit integer",
    ),
    "PTX": (
        '__global__ void k(int* x) { int r; asm volatile("mov.u32 %0, %laneid;" : "=r"(r)); x[0] = r; }',
        2,
        "invalid % escape in inline assembly string",
    ),
    "unresolved device function": (
        "__device__ float other(float);\n__global__ void k(float* x) { x[0] = other(x[0]); }",
        0,
        "undefined hidden symbol: other(float) (referenced by k(float*))",
    ),
    "missing include": ("__global__ void k(__half* x) { x[0] = 1; }", 2, "unknown type name '__half'"),
}


@pytest.mark.parametrize("name", MISTAKES)
async def test_typical_mistakes(sandbox: Sandbox, toolchain: Toolchain, folder: Path, name: str) -> None:
    """What models get wrong is said with its line, in words that lead to the remedy."""
    text, line, message = MISTAKES[name]
    built = await build(sandbox, toolchain, folder, RUNTIME + text)
    assert not built.build.compiled
    errors = [d for d in built.build.diagnostics if d.level == compiler_pb2.Diagnostic.ERROR]
    found = next(d for d in errors if message in d.message)
    assert line in (0, found.line)


async def test_without_the_runtime_header(sandbox: Sandbox, toolchain: Toolchain, folder: Path) -> None:
    """A source that does not include HIP's runtime does not compile, as it would not elsewhere."""
    built = await build(sandbox, toolchain, folder, "__global__ void k(float* x) { x[threadIdx.x] = 1; }")
    assert [d.message for d in built.build.diagnostics] == ["use of undeclared identifier 'threadIdx'"]


async def test_unchecked_errors_are_no_news(sandbox: Sandbox, toolchain: Toolchain, folder: Path) -> None:
    """`hipMalloc` without a look at its result gives no warning."""
    built = await build(sandbox, toolchain, folder, ADD + "void f(void** p) { hipMalloc(p, 4); hipFree(*p); }\n")
    assert (built.build.compiled, list(built.build.diagnostics)) == (True, [])


async def test_spills_and_registers(sandbox: Sandbox, toolchain: Toolchain, folder: Path) -> None:
    """A kernel that keeps too much in registers shows it in its resources."""
    text = (
        "__global__ __launch_bounds__(1024) void k(const float* x, float* y, int n) {\n    float a[256];\n"
        '    _Pragma("unroll") for (int i = 0; i < 256; ++i) a[i] = x[i * n + threadIdx.x];\n'
        "    for (int t = 0; t < n; ++t)\n"
        '        _Pragma("unroll") for (int i = 0; i < 256; ++i) a[i] = a[i] * a[(i + 7) & 255] + x[t];\n'
        '    _Pragma("unroll") for (int i = 0; i < 256; ++i) y[i * n + threadIdx.x] = a[i];\n}\n'
    )
    built = await build(sandbox, toolchain, folder, RUNTIME + text)
    [made] = built.resources.values()
    assert made.spilled_registers > 0
    assert made.scratch_bytes > 0
    assert (made.max_block_threads, made.occupancy_waves, made.occupancy_limit) == (1024, 4, "vgprs")


async def test_accumulation_registers_are_told_apart(sandbox: Sandbox, toolchain: Toolchain, folder: Path) -> None:
    """Twenty accumulators of 16 floats exceed the 256 architectural registers; the rest are AGPRs."""
    text = (
        "typedef float f16 __attribute__((ext_vector_type(16)));\n"
        "typedef _Float16 h4 __attribute__((ext_vector_type(4)));\n"
        "__global__ __launch_bounds__(256, 1) void k(const h4* a, f16* c, int n) {\n    f16 s[20];\n"
        '    _Pragma("unroll") for (int i = 0; i < 20; ++i) s[i] = (f16)(0.f);\n'
        '    for (int t = 0; t < n; ++t)\n        _Pragma("unroll") for (int i = 0; i < 20; ++i)\n'
        "            s[i] = __builtin_amdgcn_mfma_f32_32x32x8f16(a[t + threadIdx.x], a[t * 99 + i], s[i], 0, 0, 0);\n"
        '    _Pragma("unroll") for (int i = 0; i < 20; ++i) c[i * 64 + threadIdx.x] = s[i];\n}\n'
    )
    built = await build(sandbox, toolchain, folder, RUNTIME + text)
    [made] = built.resources.values()
    assert made.vgprs <= 256
    assert made.agprs > 0
    assert made.instructions["mfma_f16"] >= 20


async def test_static_and_templated_kernels(sandbox: Sandbox, toolchain: Toolchain, folder: Path) -> None:
    """Names are as their author would write them, with template arguments."""
    text = (
        "template <typename T> __global__ void scale(T* x) { x[threadIdx.x] *= 2; }\n"
        "static __global__ void one(float* x) { x[0] = 1; }\n"
        "void run(float* x) { scale<float><<<1, 64>>>(x); one<<<1, 1>>>(x); }\n"
    )
    built = await build(sandbox, toolchain, folder, RUNTIME + text)
    names = sorted(kernel.display_name for kernel in built.build.kernels)
    assert names[1] == "scale<float>(float*)"
    assert names[0].startswith("one(float*)")


async def test_the_place_of_compilation_is_not_to_be_probed(
    sandbox: Sandbox, toolchain: Toolchain, folder: Path
) -> None:
    """A file outside the sources that the preprocessor finds rejects the candidate, however its name came about."""
    probe = f'#define JOIN(a, b) a##b\n#if JOIN(__has_, include)("{toolchain.cache}/empty")\n#endif\n'
    with pytest.raises(Refused, match="REJECTED: The source looks for the file"):
        await build(sandbox, toolchain, folder, RUNTIME + probe + ADD)


async def test_other_files_cannot_be_read(sandbox: Sandbox, toolchain: Toolchain, folder: Path) -> None:
    """The compiler's sandbox ends `#include "/etc/passwd"`, and no line of it is in the diagnostics."""
    built = await build(sandbox, toolchain, folder, RUNTIME + '#include "/etc/passwd"\n')
    assert [d.message for d in built.build.diagnostics] == ["cannot open file '/etc/passwd': Permission denied"]


async def test_a_kernel_without_stores_is_refused(sandbox: Sandbox, toolchain: Toolchain, folder: Path) -> None:
    """A launched kernel that writes nothing on the GPU is named; one that writes passes."""
    built = await build(sandbox, toolchain, folder, ADD + "__global__ void idle(float* x) { float y = x[0]; }\n")
    names = {kernel.display_name.split("(")[0]: kernel.name for kernel in built.build.kernels}
    check_stores([built], names["add"])
    with pytest.raises(
        Refused, match=r"REJECTED: The kernel idle\(float\*\) is launched, but its gfx942 code holds no"
    ):
        check_stores([built], names["idle"])


async def test_concurrent_first_compiles(sandbox: Sandbox, folder: Path, tmp_path: Path) -> None:
    """Several verifications that find no precompiled header make one each, and all succeed."""
    toolchain = Toolchain.find(PREFIX, tmp_path / "cache")
    (folder / "main.hip").write_text(ADD)
    builds = [compile_gpu(sandbox, toolchain, folder, "main.hip", "gfx942") for _ in range(3)]
    assert [built.build.compiled for built in await asyncio.gather(*builds)] == [True] * 3
    assert len(list(toolchain.cache.glob("*.pch"))) == 1


async def test_a_damaged_precompiled_header_is_replaced(sandbox: Sandbox, folder: Path, tmp_path: Path) -> None:
    """A cache that lost its contents costs time, not verdicts."""
    toolchain = Toolchain.find(PREFIX, tmp_path / "cache")
    assert (await build(sandbox, toolchain, folder, ADD)).build.compiled
    [header] = toolchain.cache.glob("*.pch")
    header.write_bytes(header.read_bytes()[:100_000])
    assert (await build(sandbox, toolchain, folder, ADD)).build.compiled


async def test_a_header_written_again_is_still_read_once(sandbox: Sandbox, folder: Path, tmp_path: Path) -> None:
    """As where the package is installed anew: the precompiled header stays, and `#pragma once` knows its file."""
    toolchain = Toolchain.find(PREFIX, tmp_path / "cache")
    header = toolchain.cache / "once.h"
    header.write_text("#pragma once\nstruct Once {};\n")
    made = await precompiled.precompile(sandbox, toolchain, toolchain.native_flags(), [str(header)])
    os.utime(header, (1, 1))
    (folder / "it.cpp").write_text(f'#include "{header}"\nOnce once;\n')
    flags = [*precompiled.use_flags(made), *toolchain.native_flags(), "-fsyntax-only"]
    outcome = await toolchain.run(sandbox, folder, toolchain.tool("clang++"), *flags, "it.cpp")
    assert outcome.exit_code == 0, outcome.stderr


BOMBS = {
    "recursion": (
        "template <int N> struct T { static constexpr int v = T<N - 1>::v; };\nint x = T<5000>::v;",
        "recursive template",
    ),
    "endless constant": (
        "constexpr int f() { int s = 0; for (long i = 1; i > 0; i |= 1) s = 1; return s; }\nint constexpr x = f();",
        "must be initialized by a constant expression",
    ),
    "self": ('#include "main.hip"', "#include nested too deeply"),
    "crash": ("#pragma clang __debug llvm_fatal_error", "error in backend"),
    "random bytes": ('constexpr int x[] = {\n#embed "/dev/urandom" limit(4)\n};', "device files are not yet supported"),
    "foreign bytes": (
        '__global__ void k(float* x) { asm volatile(".incbin \\"/etc/passwd\\""); x[0] = 1; }',
        "Could not find incbin file '/etc/passwd'",
    ),
}


@pytest.mark.parametrize("name", BOMBS)
async def test_attacks_on_the_compiler_are_diagnostics(
    sandbox: Sandbox, toolchain: Toolchain, folder: Path, name: str
) -> None:
    """A source that exhausts, crashes or abuses the compiler ends as its author's error, with the reason."""
    text, message = BOMBS[name]
    built = await build(sandbox, toolchain, folder, RUNTIME + text + "\n")
    assert not built.build.compiled
    assert any(message in d.message for d in built.build.diagnostics), built.build.diagnostics
