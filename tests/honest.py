"""The kernels of tests/programs/honest, and what goes wrong when one of them is changed."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "programs" / "honest"


class Mutant(NamedTuple):
    """`old` is replaced by `new` in a kernel; the verdict follows, and `words` are in the explanation."""

    kernel: str
    old: str
    new: str
    verdict: str
    words: str


BARRIER = "__syncthreads();"
MUTANTS = {
    "half the wave is summed": Mutant(
        "softmax.warp_row",
        "for (int mask = WARP_SIZE / 2; mask; mask /= 2) sum",
        "for (int mask = WARP_SIZE / 4; mask; mask /= 2) sum",
        "MISMATCHED",
        "elements differ",
    ),
    "no barrier before the merge": Mutant(
        "softmax.online_torch", f"warps[wid] = part;\n    {BARRIER}", "warps[wid] = part;", "UNSAFE", "no barrier"
    ),
    "too little dynamic LDS": Mutant(
        "softmax.lds_dynamic",
        "kBytes = 60 * 1024",
        "kBytes = 4 * 1024",
        "UNSAFE",
        "which has 4096 bytes",
    ),
    "bias left out": Mutant("layer_norm.vectorized", " + float(s.v[j]))", ")", "MISMATCHED", "elements differ"),
    "tail not volatile": Mutant("sum_all.volatile_tail", "volatile float* s", "float* s", "UNSAFE", "no barrier"),
    "scratch not published": Mutant("sum_all.last_block", "__threadfence();", "", "UNSAFE", "partial|scratch"),
    "grid rounded down": Mutant(
        "transpose.padded_tile",
        "(r + TILE_DIM - 1) / TILE_DIM",
        "max(1, int(r / TILE_DIM))",
        "MISMATCHED",
        "elements differ",
    ),
    "grid of nothing": Mutant(
        "transpose.padded_tile", "(r + TILE_DIM - 1) / TILE_DIM", "r / TILE_DIM", "CRASHED", "grid"
    ),
    "rows not checked": Mutant("transpose.padded_tile", "x < rows && y + j < cols", "y + j < cols", "UNSAFE", "writes"),
    "tile read too early": Mutant("transpose.torch_half_any", BARRIER, "", "UNSAFE", "no barrier"),
    "sums not started": Mutant(
        "matmul.register_tiles", "float acc[TM][TN] = {};", "float acc[TM][TN];", "MISMATCHED", "all of these are nan"
    ),
    "workspace not cleared": Mutant(
        "matmul.split_k", "auto acc = torch::zeros", "auto acc = torch::empty", "UNSAFE", "with an atomic"
    ),
    "rows of the result mixed up": Mutant(
        "matmul.mfma_all", "8 * (i / 4) + 4 * g + i % 4", "16 * g + i", "MISMATCHED", "elements differ"
    ),
    "summed in half": Mutant(
        "matmul.split_k_second_kernel",
        "float sum = 0.f;\n    for (int i",
        "T sum = T(0.f);\n    for (int i",
        "MISMATCHED",
        "elements differ",
    ),
    "first key masked": Mutant("attention.flash_lds", "j0 + j <= q_row", "j0 + j < q_row", "MISMATCHED", "nan"),
    "not causal": Mutant("attention.wave_per_query", "j <= row", "j < n", "MISMATCHED", "elements differ"),
    "mask of absent lanes": Mutant(
        "add_rms_norm.fused_tuple",
        "__shfl_xor(variance, mask)",
        "__shfl_xor_sync(~0ull, variance, mask)",
        "CRASHED",
        "_sync",
    ),
    "end not checked": Mutant("swiglu.uint4_intrinsics", "if (i >= total) return;", "", "UNSAFE", "bytes at byte"),
    "row after the wanted one": Mutant(
        "embedding.gather", "index[blockIdx.x];", "index[blockIdx.x] + 1;", "CRASHED|MISMATCHED", "assertion|differ"
    ),
    "buffers of a scan mixed": Mutant(
        "scan.hillis_steele", f"pin * b + t];\n            {BARRIER}", "pin * b + t];", "UNSAFE", "no barrier"
    ),
    "keys not cleared": Mutant(
        "argmax.packed_atomic", "hipMemsetAsync(best, 0, rows * sizeof(*best), s);", "", "UNSAFE", "with an atomic"
    ),
    "stride forgotten": Mutant("conv2d.implicit_gemm", "oy * s.stride + r", "oy + r", "MISMATCHED", "13x18x2"),
    "maximum of zero and more": Mutant(
        "max_pool.limits", "-std::numeric_limits<float>::infinity()", "0.f", "MISMATCHED", "elements differ"
    ),
    "output not cleared": Mutant(
        "cross_entropy.atomic", "hipMemsetAsync(out, 0, sizeof(float), s);", "", "UNSAFE", "with an atomic"
    ),
    "counted without atomics": Mutant(
        "histogram.lds_atomics", "atomicAdd(&local[v.x], 1);", "local[v.x]++;", "UNSAFE", "local"
    ),
    "one buffer for two": Mutant(
        "linear_gelu.async_pipeline", "xs[cur ^ 1][ty][tx] = nx;", "xs[cur][ty][tx] = nx;", "UNSAFE", "no barrier"
    ),
    "sums read too early": Mutant("group_norm.block_per_group", "block.sync();", "", "UNSAFE", "no barrier"),
}


def references() -> list[str]:
    """The names of all references."""
    return sorted(path.stem for path in FOLDER.glob("*.py"))


def kernels(reference: str) -> dict[str, str]:
    """The sources of a reference's kernels by name."""
    return {path.stem: path.read_text() for path in sorted(FOLDER.glob(f"{reference}.*.hip"))}


def mutated(mutant: Mutant) -> str:
    """The source of a mutant."""
    source = (FOLDER / f"{mutant.kernel}.hip").read_text()
    assert source.count(mutant.old) >= 1, f"{mutant.kernel} has no {mutant.old!r}"
    return source.replace(mutant.old, mutant.new, 1)
