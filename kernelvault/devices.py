"""What AMD publishes of its Instinct accelerators. Nothing here was measured by us.

Each figure names its unit; rates are peaks, dense, of one device as a process sees it. What was looked up where, and
what is derived, stands in docs/profiling.md. Sources:

- specifications: ROCm documentation, "AMD GPU specifications" (units, LDS, L2, Infinity Cache, memory size);
- MI250, MI300: ROCm documentation, "AMD Instinct MI250 microarchitecture" and "... MI300 series microarchitecture"
  (operations a clock and unit, peaks, clock, HBM);
- CDNA 3, CDNA 4: the architecture white papers (caches, LDS, peaks);
- L2: ROCm Compute Profiler documentation and metrics (channels, bytes of a request).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kernelvault import errors

_SPECIFICATIONS = "ROCm documentation: AMD GPU specifications"
_MI250 = "ROCm documentation: AMD Instinct MI250 microarchitecture"
_MI300 = "ROCm documentation: AMD Instinct MI300 series microarchitecture"
_CDNA3 = "AMD CDNA 3 architecture white paper"
_CDNA4 = "AMD CDNA 4 architecture white paper"
_L2 = "ROCm Compute Profiler documentation: L2 cache (TCC)"


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """One device: the package, or one of the two dies of an MI250X."""

    name: str
    # Says which part of a package it is, if it is one.
    part: str = ""
    # The compiler's target for it.
    target: str
    compute_units: int
    clock_hz: float
    memory_bytes: int
    hbm_bytes_per_s: float
    # The last level, "Infinity Cache"; 0: none.
    mall_bytes: int
    # Dies that have an L2 of their own; `l2_bytes` and `l2_channels` count all of them together.
    dies: int
    l2_bytes: int
    # Each reads a line of 128 bytes and does one atomic operation a clock.
    l2_channels: int
    # Of a compute unit, as are the next two.
    lds_bytes: int
    lds_bytes_per_clock: int
    l1_bytes_per_clock: int
    # Operations a second of the vector units: FMA counts two, and f32 is packed. Keys are `f64` and `f32`.
    vector_flops: Mapping[str, float]
    # Of the matrix units. Keys are `f64`, `f32`, `xf32`, `f16` (bfloat16, too) and `f8` (int8, too).
    matrix_flops: Mapping[str, float]
    # Without it, `f8` is the rate of int8.
    has_fp8: bool = True
    sources: tuple[str, ...]

    @property
    def lanes_per_s(self) -> float:
        """Lanes that the vector units retire a second: 4 SIMDs of 16 lanes a compute unit (CDNA ISA guides)."""
        return 64 * self.compute_units * self.clock_hz

    @property
    def lds_bytes_per_s(self) -> float:
        """Of all compute units, read."""
        return self.lds_bytes_per_clock * self.compute_units * self.clock_hz

    @property
    def l1_bytes_per_s(self) -> float:
        """From the vector L1 caches of all compute units."""
        return self.l1_bytes_per_clock * self.compute_units * self.clock_hz

    @property
    def l2_bytes_per_s(self) -> float:
        """From all channels of L2, read."""
        return 128 * self.l2_channels * self.clock_hz


_MI300X = Gpu(
    name="MI300X",
    target="gfx942",
    compute_units=304,
    clock_hz=2.1e9,
    memory_bytes=192 << 30,
    hbm_bytes_per_s=5.3e12,
    mall_bytes=256 << 20,
    dies=8,
    l2_bytes=32 << 20,
    l2_channels=8 * 16,
    lds_bytes=64 << 10,
    lds_bytes_per_clock=128,
    l1_bytes_per_clock=128,
    vector_flops={"f64": 81.7e12, "f32": 163.4e12},
    matrix_flops={"f64": 163.4e12, "f32": 163.4e12, "xf32": 653.7e12, "f16": 1307.4e12, "f8": 2614.9e12},
    sources=(_SPECIFICATIONS, _MI300, _CDNA3),
)
# Another memory beside the same dies.
_MI325X = replace(_MI300X, name="MI325X", memory_bytes=256 << 30, hbm_bytes_per_s=6.0e12)
_MI355X = Gpu(
    name="MI355X",
    target="gfx950",
    compute_units=256,
    clock_hz=2.4e9,
    memory_bytes=288 << 30,
    hbm_bytes_per_s=8.0e12,
    mall_bytes=256 << 20,
    dies=8,
    l2_bytes=32 << 20,
    l2_channels=8 * 16,
    lds_bytes=160 << 10,
    lds_bytes_per_clock=256,
    l1_bytes_per_clock=128,
    vector_flops={"f64": 78.6e12, "f32": 157.3e12},
    # There is no xf32 on CDNA 4: it runs as f32.
    matrix_flops={"f64": 78.6e12, "f32": 157.3e12, "xf32": 157.3e12, "f16": 2516.6e12, "f8": 5033.2e12},
    sources=(_SPECIFICATIONS, _CDNA4, f"{_CDNA3} (L2)"),
)
# A process sees each die of the package as a device of its own.
_MI250X = Gpu(
    name="MI250X",
    part="one of two dies",
    target="gfx90a",
    compute_units=110,
    clock_hz=1.7e9,
    memory_bytes=64 << 30,
    hbm_bytes_per_s=1.6e12,
    mall_bytes=0,
    dies=1,
    l2_bytes=8 << 20,
    l2_channels=32,
    lds_bytes=64 << 10,
    lds_bytes_per_clock=128,
    l1_bytes_per_clock=64,
    vector_flops={"f64": 23.9e12, "f32": 47.9e12},
    # There is no xf32 on CDNA 2: it runs as f32.
    matrix_flops={"f64": 47.9e12, "f32": 47.9e12, "xf32": 47.9e12, "f16": 191.5e12, "f8": 191.5e12},
    has_fp8=False,
    sources=(_SPECIFICATIONS, _MI250, _L2),
)

GPUS: Mapping[str, Gpu] = {gpu.name: gpu for gpu in (_MI300X, _MI325X, _MI355X, _MI250X)}
TARGETS: Mapping[str, tuple[Gpu, ...]] = {
    target: tuple(gpu for gpu in GPUS.values() if gpu.target == target) for target in ("gfx90a", "gfx942", "gfx950")
}


def of(name: str) -> Gpu:
    """The accelerator of that name; raises errors.InvalidArgument for an unknown one."""
    gpu = GPUS.get(name)
    if gpu is None:
        raise errors.InvalidArgument("device", f"{name[:40]!r} is unknown; known are {', '.join(GPUS)}")
    return gpu


def lds_bytes(target: str) -> int:
    """LDS of a compute unit, the same for all accelerators of a target; 0 for `cpu` and other targets."""
    gpus = TARGETS.get(target)
    return gpus[0].lds_bytes if gpus else 0
