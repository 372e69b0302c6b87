"""The distance of sources sees through names, comments and layout, and little else."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelvault.similarity import NEAR_COPY, distance, edit_distance, tokens

KERNEL = """
#include <hip/hip_runtime.h>
#define BLOCK 256
// Adds two vectors.
__global__ void add(const float* a, const float* b, float* out, int64_t n) {
    /* one element
       a thread */
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) { out[i] = a[i] + b[i]; }
}
extern "C" void run(const float* a, const float* b, int64_t n, float* out, hipStream_t stream) {
    add<<<(n + BLOCK - 1) / BLOCK, BLOCK, 0, stream>>>(a, b, out, n);
}
"""
SOFTMAX = """
#include <hip/hip_runtime.h>
__global__ void softmax(const float* x, float* y, int cols) {
    __shared__ float partial[256];
    float best = -INFINITY;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) best = fmaxf(best, x[blockIdx.x * cols + c]);
    partial[threadIdx.x] = best;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (threadIdx.x < step) partial[threadIdx.x] = fmaxf(partial[threadIdx.x], partial[threadIdx.x + step]);
        __syncthreads();
    }
}
"""


def apart(one: str, other: str) -> float:
    """The distance of two sources."""
    return distance(tokens(one), tokens(other))


def table_distance(one: Sequence[str], other: Sequence[str]) -> int:
    """The edit distance by the whole table of the distances of all beginnings."""
    row = list(range(len(other) + 1))
    for number, token in enumerate(one, 1):
        new = [number]
        for column, against in enumerate(other, 1):
            new.append(min(row[column] + 1, new[-1] + 1, row[column - 1] + (token != against)))
        row = new
    return row[-1]


LISTS = st.lists(st.sampled_from("abc"), max_size=80)


@given(LISTS, LISTS)
@settings(max_examples=300, deadline=None)
def test_it_is_the_edit_distance(one: list[str], other: list[str]) -> None:
    """Equal to the plain algorithm's, also where a list has more tokens than a machine word has bits."""
    assert edit_distance(one, other) == table_distance(one, other)


@pytest.mark.parametrize(
    "copy",
    [
        KERNEL,
        KERNEL.replace("// Adds two vectors.", "// Copied, and this says nothing of it."),
        KERNEL.replace("    ", "").replace(") {", ")\n{\n"),
        KERNEL.replace("out", "result").replace("stream", "queue").replace("add", "sum_up"),
    ],
)
def test_a_disguised_copy_is_a_near_copy(copy: str) -> None:
    """Renaming, reformatting and commenting make nothing new."""
    assert apart(KERNEL, copy) == 0


def test_one_changed_constant_is_a_copy_in_a_long_kernel_only() -> None:
    """In a short one the block size may be the whole idea."""
    assert apart(KERNEL, KERNEL.replace("BLOCK 256", "BLOCK 512")) > NEAR_COPY
    assert 0 < apart(SOFTMAX + KERNEL, SOFTMAX + KERNEL.replace("BLOCK 256", "BLOCK 512")) < NEAR_COPY


def test_another_algorithm_is_new() -> None:
    """Kernels of one language share little."""
    assert apart(KERNEL, SOFTMAX) > 0.5


def test_a_reworked_kernel_is_no_copy() -> None:
    """Vectorising the loads is more than a disguise."""
    reworked = KERNEL.replace("out[i] = a[i] + b[i];", "reinterpret_cast<float4*>(out)[i] = add4(a, b, i);").replace(
        "(n + BLOCK - 1) / BLOCK", "(n / 4 + BLOCK - 1) / BLOCK"
    )
    assert NEAR_COPY < apart(KERNEL, reworked) < 0.3


def test_comments_are_those_of_the_language() -> None:
    """`#` starts a comment in Python only, and nothing does inside a string."""
    assert tokens('#define A "//x" // y') == ["#", "$", "$", '"//x"']
    assert tokens("a = '#b' # c\nfor // e", python=True) == ["$", "=", "'#b'", "for", "/", "/", "$"]


def test_empty_sources_compare() -> None:
    """Nothing is like nothing, and has nothing in common with anything."""
    assert apart("", "") == 0.0
    assert apart("", "a") == apart("a", "") == 1.0
