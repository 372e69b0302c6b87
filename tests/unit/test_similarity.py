"""Similarity sees through names, comments and layout, and little else."""

from __future__ import annotations

import pytest

from svc_trainer.similarity import NEAR_COPY, shingles, similarity, tokens

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


def alike(one: str, other: str, *, python: bool = False) -> float:
    """The similarity of two sources."""
    return similarity(shingles(one, python=python), shingles(other, python=python))


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
    assert alike(KERNEL, copy) >= NEAR_COPY


def test_one_changed_constant_is_a_copy_in_a_long_kernel_only() -> None:
    """In a short one the block size may be the whole idea."""
    assert alike(KERNEL, KERNEL.replace("BLOCK 256", "BLOCK 512")) < NEAR_COPY
    assert alike(SOFTMAX + KERNEL, SOFTMAX + KERNEL.replace("BLOCK 256", "BLOCK 512")) >= NEAR_COPY


def test_another_algorithm_is_new() -> None:
    """Kernels of one language share little."""
    assert alike(KERNEL, SOFTMAX) < 0.3


def test_a_reworked_kernel_is_no_copy() -> None:
    """Vectorising the loads is more than a disguise."""
    reworked = KERNEL.replace("out[i] = a[i] + b[i];", "reinterpret_cast<float4*>(out)[i] = add4(a, b, i);").replace(
        "(n + BLOCK - 1) / BLOCK", "(n / 4 + BLOCK - 1) / BLOCK"
    )
    assert 0.5 < alike(KERNEL, reworked) < NEAR_COPY


def test_comments_are_those_of_the_language() -> None:
    """`#` starts a comment in Python only, and nothing does inside a string."""
    assert tokens('#define A "//x" // y') == ["#", "define", "A", '"//x"']
    assert tokens("a = '#b' # c\nd // e", python=True) == ["a", "=", "'#b'", "d", "/", "/", "e"]


def test_short_and_empty_sources_compare() -> None:
    """Fewer tokens than a shingle holds make one shingle; nothing is like nothing."""
    assert alike("a", "b") == 1.0
    assert alike("a + 1", "a - 1") == 0.0
    assert alike("", "") == 1.0
    assert alike("", "a") == 0.0
