"""One kernel of a source is found and replaced by clang's syntax tree, with the real compiler in the real sandbox."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from kernelvault import digest, errors
from kernelvault.sandbox import Sandbox
from kernelvault.v1 import compiler_pb2
from kernelvault.v1.kernel_pb2 import KernelDefinition
from svc_compiler.hip.toolchain import Toolchain
from svc_compiler.kernels import KernelSplicer

PREFIX = Path(os.environ.get("KERNELVAULT_TOOLCHAIN", "~/.cache/kernelvault/toolchain"))
HEAD = "#include <hip/hip_runtime.h>\n"
SCALE = "__global__ void scale(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }"
RUN = 'extern "C" void run(float* x, int64_t n, hipStream_t s) { scale<<<1, 64, 0, s>>>(x, n); }\n'
SOURCE = f"{HEAD}{SCALE}\n{RUN}"


@dataclasses.dataclass(frozen=True)
class Splices:
    """A splicer, called in few words."""

    splicer: KernelSplicer

    async def extract(self, source: str | bytes, kernel: str) -> KernelDefinition:
        """The kernel of that name."""
        response = await self.splicer.extract(compiler_pb2.ExtractKernelRequest(**_of(source, kernel)))
        return response.kernel

    async def splice(self, source: str | bytes, kernel: str, replacement: str) -> str:
        """The source with the replacement; fails where that is refused."""
        response = await self._splice(source, kernel, replacement)
        assert not response.refusal
        return response.source.contents.decode()

    async def refused(self, source: str, kernel: str, replacement: str) -> str:
        """Why the replacement is refused."""
        response = await self._splice(source, kernel, replacement)
        assert not response.HasField("source")
        return response.refusal

    async def _splice(self, source: str | bytes, kernel: str, replacement: str) -> compiler_pb2.SpliceKernelResponse:
        request = compiler_pb2.SpliceKernelRequest(replacement=replacement, **_of(source, kernel))
        return await self.splicer.splice(request)


def _of(source: str | bytes, kernel: str) -> dict[str, Any]:
    contents = source.encode() if isinstance(source, str) else source
    return {"source": digest.artifact("kernel.hip", contents), "kernel": kernel}


@pytest.fixture
async def splices(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Splices]:
    """With a cache that all tests share."""
    toolchain = Toolchain.find(PREFIX, tmp_path_factory.getbasetemp() / "splices")
    sandbox = await Sandbox.start()
    yield Splices(KernelSplicer(sandbox, toolchain, tmp_path, workers=1, queue_size=0))
    await sandbox.close()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (SCALE, "scale"),
        ("template <typename T, int N = 3>\n__global__ void scale(T* x) { *x *= N; }", "scale"),
        ("template <typename... T>\n__global__ void scale(T*... x) { ((*x *= 2), ...); }", "scale"),
        ("__launch_bounds__(64) __global__ static void scale(float* x) { *x = 1; }", "scale"),
        ("__global__ __attribute__((amdgpu_flat_work_group_size(1, 64))) void scale(float* x) { *x = 1; }", "scale"),
        ("__global__ void scale(float* x) { /* } */ *x = 1; // }\n  if (*x) { *x = '}'; } }", "scale"),
        ('__global__ void scale(float* x) { const char* s = R"(})" "{"; *x = s[0]; }', "scale"),
        ("__global__ void scale(float* x) {\n#if 0\n}\n#endif\n  *x = __LINE__;\n}", "scale"),
        ("auto __global__ scale(float* x) -> void { *x = 1; }", "scale"),
        ('extern "C" __global__ void scale(float* x) { *x = 1; }', "scale"),
        ("__global__ void /* ∂ */ scale(float* x) { *x = 1; }", "scale"),
    ],
    ids=[
        "plain",
        "template",
        "pack",
        "bounds",
        "attribute",
        "comments",
        "strings",
        "skipped",
        "trailing",
        "c",
        "utf-8",
    ],
)
async def test_a_definition_is_found_whole(splices: Splices, text: str, name: str) -> None:
    """From its template header and attributes to its closing brace, whatever braces stand in it, and nothing else."""
    source = f"{HEAD}/* ∂ */ int before;\n// no\n{text} // after\n__global__ void scaled(int* x) {{ *x = 2; }}\n"
    found = await splices.extract(source, name)
    assert (found.name, found.text) == (name, text)
    assert found.line == 1 + source[: source.index(text)].count("\n")
    assert text.startswith(found.signature)
    assert text[len(found.signature) :].lstrip().startswith("{")


async def test_crlf_stays(splices: Splices) -> None:
    """A replacement gets the file's ends of lines; the rest keeps its bytes."""
    source = SOURCE.replace("{ if", "{\n  if").replace("\n", "\r\n")
    replacement = "__global__ void scale(float* x, int n) {\n  x[0] = n;\n}\n"
    spliced = await splices.splice(source, "scale", replacement)
    begin = source.index("__global__")
    assert spliced.startswith(source[:begin])
    assert spliced[begin:] == replacement.strip().replace("\n", "\r\n") + "\r\n" + RUN.replace("\n", "\r\n")


NESTED = f"""{HEAD}
namespace a {{ namespace b {{ namespace {{
__global__ void scale(float* x) {{ *x = 1; }}
}} }}
__global__ void scale(float* x) {{ *x = 2; }}
__global__ void scale_all(float* x) {{ *x = 3; }}
}}
__global__ void over(float* x) {{ *x = 4; }}
__global__ void over(int* x) {{ *x = 5; }}
__global__ void declared(float* x);
__global__ void declared(float* x) {{ *x = 6; }}
"""


@pytest.mark.parametrize(
    ("asked", "name", "value"),
    [
        ("a::b::scale", "a::b::scale", 1),
        ("b::scale", "a::b::scale", 1),
        ("scale_all", "a::scale_all", 3),
        ("over(float*)", "over(float *)", 4),
        ("over( int * )", "over(int *)", 5),
        ("declared", "declared", 6),
    ],
)
async def test_a_name_means_one_kernel(splices: Splices, asked: str, name: str, value: int) -> None:
    """Plain, qualified in part or in whole, or with the parameters' types; declarations are no definitions."""
    found = await splices.extract(NESTED, asked)
    assert (found.name, found.text.endswith(f"{{ *x = {value}; }}")) == (name, True)


@pytest.mark.parametrize(
    ("source", "kernel", "message"),
    [
        (SOURCE, "scales", "'scales' is no kernel of the source: it defines `scale(float *, int)`"),
        (SOURCE, "run", "'run' is no kernel of the source: it defines `scale(float *, int)`"),
        (SOURCE, "cale", "'cale' is no kernel of the source: it defines `scale(float *, int)`"),
        (NESTED, "over", "'over' is the name of 2 kernels: choose one of `over(float *)`, `over(int *)`"),
        (
            NESTED,
            "scale",
            "'scale' is the name of 2 kernels: choose one of `a::b::scale(float *)`, `a::scale(float *)`",
        ),
        (f"{HEAD}int x;\n", "scale", "'scale' is no kernel of the source: it defines no `__global__` function"),
    ],
)
async def test_another_name_lists_the_kernels(splices: Splices, source: str, kernel: str, message: str) -> None:
    """What cannot be meant, or can be meant twice, is answered with the names that there are."""
    with pytest.raises(errors.InvalidArgument) as caught:
        await splices.extract(source, kernel)
    assert (str(caught.value), caught.value.reason) == (f"kernel: {message}", "NO_SUCH_KERNEL")


@pytest.mark.parametrize(
    "text",
    [
        "#define KERNEL(n) __global__ void n(float* x) { *x = 1; }\nKERNEL(scale)",
        "#define BODY { *x = 1; }\n__global__ void scale(float* x) BODY",
        "#define HEAD int z; __global__\nHEAD void scale(float* x) { *x = 1; }",
        "#define NAME scale\n__global__ void NAME(float* x) { *x = 1; }",
        "[[maybe_unused]] __global__ void scale(float* x) { *x = 1; }",
    ],
    ids=["whole", "body", "head", "name", "attribute"],
)
async def test_what_a_macro_makes_is_refused(splices: Splices, text: str) -> None:
    """Its text is not the kernel's alone."""
    with pytest.raises(errors.InvalidArgument) as caught:
        await splices.extract(f"{HEAD}{text}\n", "scale")
    assert caught.value.reason == "KERNEL_IN_MACRO"
    assert "write it" in str(caught.value)


async def test_a_source_with_errors_is_said(splices: Splices) -> None:
    """The first error and its place; it is the source's fault, not the platform's."""
    with pytest.raises(errors.FailedPrecondition) as caught:
        await splices.extract(f"{HEAD}int x = y;\n", "scale")
    assert str(caught.value) == "kernel.hip does not compile: kernel.hip:2: use of undeclared identifier 'y'"


HELPERS = """#include <hip/hip_fp16.h>
constexpr int kFactor = 2;
template <typename T> __device__ T twice(T x) { return x * kFactor; }
__global__ __launch_bounds__(64) void scale(float* values, int count) {
    if (threadIdx.x < count) values[threadIdx.x] = twice(values[threadIdx.x]);
}"""


async def test_helpers_and_includes_may_come_along(splices: Splices) -> None:
    """Everything else keeps its bytes; parameters may be renamed, bounds be added."""
    assert await splices.splice(SOURCE, "scale", HELPERS + "\n") == f"{HEAD}{HELPERS}\n{RUN}"


async def test_uses_elsewhere_may_change(splices: Splices) -> None:
    """A helper of the file that gets a new instance, or is not called any more, has not changed."""
    source = f"""{HEAD}
struct Pair {{ float a, b; }};
template <typename T> __device__ T twice(T x) {{ return x + x; }}
__device__ float half_of(float x) {{ auto f = [](float y) {{ return y / 2; }}; return f(x); }}
template <typename T> __global__ void scale(T* x) {{ *x = half_of(*x); }}
inline auto late = [](int x) {{ return x; }};
extern "C" void run(float* x, hipStream_t s) {{ auto go = [&] {{ scale<float><<<1, 64, 0, s>>>(x); }}; go(); }}
"""
    replacement = (
        "\n\ntemplate <typename T> __global__ void scale(T* x) { Pair p{1, 2}, q = p; *x = twice(q.a) + twice(1); }"
    )
    assert "twice(1)" in await splices.splice(source, "scale", replacement)


@pytest.mark.parametrize(
    ("replacement", "message"),
    [
        (SCALE.partition(" {")[0] + ";", "it does not define the kernel `scale`"),
        (SCALE.replace("int n", "int64_t n"), "it defines `scale(float *, int64_t)`, where `scale(float *, int)` is"),
        (f"{SCALE}\n{SCALE.replace('int n', 'long n')}", "and `scale(float *, long)`, where"),
        (f'extern "C" {SCALE}', "keep the name, the linkage"),
        (f"template <int N = 1> {SCALE}", "keep the name, the linkage, the template parameters"),
    ],
)
async def test_another_signature_is_refused(splices: Splices, replacement: str, message: str) -> None:
    """Callers, and whoever finds the kernel by its name, depend on it."""
    assert message in await splices.refused(SOURCE, "scale", replacement)


@pytest.mark.parametrize(
    "replacement",
    [
        f"{SCALE}\n#define s stream",
        f"{SCALE}\n#define int64_t int32_t",
        f"#define run other\n{SCALE}",
        f"__global__ void scale(float*, int64_t);\n{SCALE}",
        f"{SCALE}\n#endif\n#if 0",
        f"{SCALE}\n/*",
    ],
)
async def test_what_is_more_than_the_kernel_is_refused(splices: Splices, replacement: str) -> None:
    """Whatever makes something else of the rest of the file."""
    source = f"{HEAD}#if 1\n{SCALE}\n{RUN}/* */\n#endif\n"
    assert "it changes `run`, which lies outside of the kernel" in await splices.refused(source, "scale", replacement)


async def test_a_replacement_that_does_not_compile_is_spliced(splices: Splices) -> None:
    """Its verification tells the author what is wrong, with the line."""
    assert "oops" in await splices.splice(SOURCE, "scale", SCALE.replace("*= 2", "= oops"))
