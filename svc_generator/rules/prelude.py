"""The pieces of C++ that kernels share; a source holds those that it uses."""

from __future__ import annotations

_FOLDS = {
    "Sum": ("T(0)", "a + b"),
    "Prod": ("T(1)", "a * b"),
    "Max": ("T(-INFINITY)", "(a != a || a > b) ? a : b"),
    "Min": ("T(INFINITY)", "(a != a || a < b) ? a : b"),
    "Any": ("T(0)", "a || b"),
    "All": ("T(1)", "a && b"),
}
_FOLD = """
struct {name} {{
    template <typename T> static __device__ T start() {{ return {start}; }}
    template <typename T> static __device__ T join(T a, T b) {{ return {join}; }}
}};
"""
_BEST = """
template <typename T> struct Best {
    T value;
    int64_t at;
};
"""
_ARG = """
struct {name} {{
    template <typename B> static __device__ B start() {{ return B{{{start}, INT64_MAX}}; }}
    template <typename B> static __device__ B join(B a, B b) {{
        if (a.value != a.value || b.value != b.value) {{
            return (a.value != a.value && (b.value == b.value || a.at < b.at)) ? a : b;
        }}
        return (a.value {sign} b.value || (a.value == b.value && a.at < b.at)) ? a : b;
    }}
}};
"""
_ACROSS_BLOCK = """
// Folds a value of each thread; all threads get the result. Needs no wave of a certain size.
template <typename Fold, typename T> __device__ T across_block(T value, T* shared) {
    shared[threadIdx.x] = value;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) shared[threadIdx.x] = Fold::join(shared[threadIdx.x], shared[threadIdx.x + half]);
        __syncthreads();
    }
    value = shared[0];
    __syncthreads();
    return value;
}
"""
_PACK = """
template <typename T> struct alignas(4 * sizeof(T)) Pack {
    T lane[4];
};
"""
_HOST = """
static inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
"""
_PARTS = """
static inline int64_t parts_of(int64_t length) {
    return length < 8192 ? 1 : length / 4096 < 256 ? length / 4096 : 256;
}
"""


def parts_of(length: int) -> int:
    """Into how many parts a long reduction is split; the C++ of the same name agrees."""
    return 1 if length < 8192 else min(length // 4096, 256)


def fold_name(kind: str) -> str:
    """The C++ type that folds for a kind of reduction."""
    return {"argmax": "ArgMax", "argmin": "ArgMin"}.get(kind, kind.capitalize())


def text(kernels: str, launcher: str, *, wide_index: bool) -> str:
    """Includes, types and helpers for a source that is made of `kernels` and `launcher`."""
    parts = ["#include <hip/hip_runtime.h>\n"]
    if "__half" in kernels + launcher:
        parts.append("#include <hip/hip_fp16.h>\n")
    if "__hip_bfloat16" in kernels + launcher:
        parts.append("#include <hip/hip_bf16.h>\n")
    parts.append("#include <math.h>\n#include <stdint.h>\n")
    parts.append(f"\nusing index_t = {'int64_t' if wide_index else 'int'};\n")
    parts += [
        _FOLD.format(name=n, start=s, join=j)
        for n, (s, j) in _FOLDS.items()
        if f"{n}::" in kernels or f"<{n}>" in kernels
    ]
    if "Best<" in kernels:
        parts.append(_BEST)
    for name, start, sign in (("ArgMax", "-INFINITY", ">"), ("ArgMin", "INFINITY", "<")):
        if name in kernels:
            parts.append(_ARG.format(name=name, start=start, sign=sign))
    for needle, piece in (("across_block", _ACROSS_BLOCK), ("Pack<", _PACK)):
        if needle in kernels:
            parts.append(piece)
    parts.append(_HOST)
    if "parts_of" in launcher:
        parts.append(_PARTS)
    return "".join(parts)
