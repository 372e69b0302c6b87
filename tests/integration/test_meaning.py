"""Attempts to be one program for the GPU and another for the CPU model, and honest look-alikes."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kernelvault.sandbox import Sandbox
from svc_compiler.hip import meaning
from svc_compiler.hip.toolchain import Toolchain
from svc_compiler.refusal import Refused

PREFIX = Path(os.environ.get("KERNELVAULT_TOOLCHAIN", "~/.cache/kernelvault/toolchain"))
SOURCE = "#include <hip/hip_runtime.h>\n{}\n__global__ void k(float* x) {{ x[threadIdx.x] = warpSize; }}\n"


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


def differs(condition: str) -> str:
    """A source with a line that only one of the passes may see."""
    return SOURCE.format(f"#if {condition}\nint seen;\n#endif")


HONEST = {
    "nothing": SOURCE.format(""),
    "host architecture": differs("defined(__x86_64__)"),
    "vector extension": differs("defined(__AVX2__)"),
    "target": differs("defined(__gfx942__) && defined(__AMDGCN__)"),
    "device pass": differs("__HIP_DEVICE_COMPILE__"),
    "long double": differs("__SIZEOF_LONG_DOUBLE__ == 16"),
    "header": SOURCE.format("#if __has_include(<hip/hip_fp16.h>)\n#include <hip/hip_fp16.h>\n#endif"),
    "wrapper": differs("defined(__CLANG_HIP_RUNTIME_WRAPPER_H__)"),
    "attribute": differs("__has_cpp_attribute(likely) && __has_feature(cxx_rtti)"),
    "counter": SOURCE.format("static_assert(__COUNTER__ >= 0); int c = __COUNTER__;"),
    "time": SOURCE.format("const char* t = __DATE__ __TIME__ __TIMESTAMP__;"),
    "place": SOURCE.format("const char* f = __FILE__ __BASE_FILE__; int l = __LINE__ + __INCLUDE_LEVEL__;"),
    "another line": SOURCE.format('#line 7 "elsewhere.h"\nint seen;\n#include <cmath>\n#line 3\nint more;'),
    "numbered comments": SOURCE.format("/*\n # 1. one\n #2: two\n*/\n#\n#define TWO(a) #a"),
    "own bytes": SOURCE.format('constexpr unsigned char e[] = {\n#embed "main.hip" limit(4)\n};'),
    "libraries": SOURCE.format(
        "#include <algorithm>\n#include <cmath>\n#include <hip/hip_bf16.h>\n#include <hip/hip_cooperative_groups.h>\n"
        '__global__ void q(float* x) { assert(x[0] > 0); x[1] = INFINITY + NAN; printf("%f", x[1]); }\n'
        "void run(float* x) { hipLaunchKernelGGL(q, 1, 64, 0, 0, x); }"
    ),
}
TRICKS = {
    "AMD builtin": differs("__has_builtin(__builtin_amdgcn_readfirstlane)"),
    "no AMD builtin": differs("!__has_builtin(__builtin_amdgcn_s_barrier)"),
    "architecture": differs("__is_target_arch(x86_64)"),
    "vendor": differs("__is_target_vendor(amd)"),
    "in a macro": SOURCE.format(
        "#define CAN __has_builtin(__builtin_amdgcn_workgroup_id_x)\n#if CAN\nint seen;\n#endif"
    ),
    "pasted": SOURCE.format(
        "#define JOIN(a, b) a##b\n#if JOIN(__has_, builtin)(__builtin_amdgcn_s_sleep)\nint seen;\n#endif"
    ),
    "under another name": SOURCE.format(
        '#line 7 "elsewhere.h"\n#if __has_builtin(__builtin_amdgcn_s_barrier)\nint seen;\n#endif'
    ),
    "after a header": SOURCE.format(
        '#line 7 "elsewhere.h"\n#include <cmath>\n#if __has_builtin(__builtin_amdgcn_s_barrier)\nint seen;\n#endif'
    ),
    "as a header": SOURCE.format(
        '# 1 "/usr/include/x.h" 1 3\n#if __has_builtin(__builtin_amdgcn_s_barrier)\nint seen;\n#endif'
    ),
    "as a header, hidden": SOURCE.format(
        '#define F "/usr/include/x.h"\n/* a\n*/ %\\\n: 1 F 1 3\n'
        "#if __has_builtin(__builtin_amdgcn_s_barrier)\nint seen;\n#endif"
    ),
    "a file of the other pass": differs('__has_include("../sources/main.hip")'),
}


async def check(sandbox: Sandbox, toolchain: Toolchain, tmp_path: Path, text: str) -> None:
    """Checks one file for gfx942."""
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "main.hip").write_text(text)
    await meaning.check(sandbox, toolchain, folder, "main.hip", "gfx942")


@pytest.mark.parametrize("name", HONEST)
async def test_honest_sources_mean_one_thing(sandbox: Sandbox, toolchain: Toolchain, tmp_path: Path, name: str) -> None:
    """What cannot tell the passes apart passes, however much it looks like an attempt."""
    await check(sandbox, toolchain, tmp_path, HONEST[name])


@pytest.mark.parametrize("name", TRICKS)
async def test_tricks_are_rejected(sandbox: Sandbox, toolchain: Toolchain, tmp_path: Path, name: str) -> None:
    """What tells the passes apart is REJECTED."""
    with pytest.raises(Refused, match="REJECTED"):
        await check(sandbox, toolchain, tmp_path, TRICKS[name])


async def test_the_line_that_differs_is_named(sandbox: Sandbox, toolchain: Toolchain, tmp_path: Path) -> None:
    """The explanation says where, and what each pass sees."""
    with pytest.raises(Refused) as refused:
        await check(sandbox, toolchain, tmp_path, TRICKS["AMD builtin"])
    expected = "main.hip:3: after preprocessing the GPU pass sees `int seen;` and the CPU model's pass sees nothing."
    assert refused.value.explanation.startswith(expected)
