"""Published peaks of AMD Instinct accelerators. Nothing here was measured by us."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kernelvault import errors

_CDNA2 = "AMD CDNA 2 Architecture white paper and AMD Instinct MI250X data sheet"
_CDNA3 = "AMD CDNA 3 Architecture white paper and AMD Instinct {} data sheet"
_CDNA4 = "AMD CDNA 4 Architecture white paper and AMD Instinct MI355X data sheet"
_SPECIFICATIONS = "ROCm documentation, GPU hardware specifications"


@dataclass(frozen=True, kw_only=True)
class Peaks:
    """What an accelerator can do at most, as its maker publishes it."""

    name: str
    # The compiler's target for it.
    target: str
    compute_units: int
    clock_hz: float
    hbm_bytes_per_s: float
    # All L2 slices together, read.
    l2_bytes_per_s: float
    l2_bytes: int
    # Channels of L2, each of which does one atomic operation a clock.
    l2_channels: int
    # The last level, "Infinity Cache"; 0: none.
    mall_bytes: int
    lds_bytes: int
    # Operations a second of the vector units: FMA counts two; packed where the width allows.
    vector_flops: Mapping[str, float]
    # Of the matrix units, dense. Keys are `f64`, `f32`, `xf32`, `f16` (bfloat16, too) and `f8` (int8, too).
    matrix_flops: Mapping[str, float]
    sources: tuple[str, ...]

    @property
    def lanes_per_s(self) -> float:
        """Lanes that the vector units retire a second: 4 SIMDs of 16 lanes a compute unit (CDNA ISA guides)."""
        return 64 * self.compute_units * self.clock_hz

    @property
    def lds_bytes_per_s(self) -> float:
        """32 banks of 4 bytes a clock and compute unit (CDNA ISA guides)."""
        return 128 * self.compute_units * self.clock_hz

    @property
    def l1_bytes_per_s(self) -> float:
        """64 bytes a clock and compute unit from the vector L1 cache (CDNA white papers)."""
        return 64 * self.compute_units * self.clock_hz


def _mi300(name: str, hbm_bytes_per_s: float) -> Peaks:
    """MI300X and MI325X differ in their memory only: 8 dies of 38 compute units, 2 KiB a clock and die from L2."""
    return Peaks(
        name=name,
        target="gfx942",
        compute_units=304,
        clock_hz=2.1e9,
        hbm_bytes_per_s=hbm_bytes_per_s,
        l2_bytes_per_s=8 * 2048 * 2.1e9,
        l2_bytes=32 << 20,
        l2_channels=8 * 16,
        mall_bytes=256 << 20,
        lds_bytes=64 << 10,
        vector_flops={"f64": 81.7e12, "f32": 163.4e12, "f16": 163.4e12},
        matrix_flops={"f64": 163.4e12, "f32": 163.4e12, "xf32": 653.7e12, "f16": 1307.4e12, "f8": 2614.9e12},
        sources=(_CDNA3.format(name), _SPECIFICATIONS),
    )


_MI355X = Peaks(
    name="MI355X",
    target="gfx950",
    compute_units=256,
    clock_hz=2.4e9,
    hbm_bytes_per_s=8.0e12,
    l2_bytes_per_s=8 * 2048 * 2.4e9,
    l2_bytes=32 << 20,
    l2_channels=8 * 16,
    mall_bytes=256 << 20,
    lds_bytes=160 << 10,
    vector_flops={"f64": 78.6e12, "f32": 157.3e12, "f16": 157.3e12},
    # There is no xf32 on CDNA 4: it runs as f32.
    matrix_flops={"f64": 78.6e12, "f32": 157.3e12, "xf32": 157.3e12, "f16": 2516.6e12, "f8": 5033.2e12},
    sources=(_CDNA4, _SPECIFICATIONS),
)

# One of the two dies of the package: a process sees each as a device of its own. Half of the data sheet's numbers.
_MI250X = Peaks(
    name="MI250X",
    target="gfx90a",
    compute_units=110,
    clock_hz=1.7e9,
    hbm_bytes_per_s=3.2768e12 / 2,
    l2_bytes_per_s=4096 * 1.7e9,
    l2_bytes=8 << 20,
    l2_channels=32,
    mall_bytes=0,
    lds_bytes=64 << 10,
    vector_flops={"f64": 23.95e12, "f32": 47.9e12, "f16": 47.9e12},
    # Neither xf32 nor fp8 is there; int8 runs at the rate of f16.
    matrix_flops={"f64": 47.85e12, "f32": 47.85e12, "xf32": 47.85e12, "f16": 191.5e12, "f8": 191.5e12},
    sources=(_CDNA2 + " (one die of two)", _SPECIFICATIONS),
)

DEVICES: Mapping[str, Peaks] = {
    peaks.name: peaks for peaks in (_mi300("MI300X", 5.3e12), _mi300("MI325X", 6.0e12), _MI355X, _MI250X)
}


def of(device: str) -> Peaks:
    """The peaks of a device; raises errors.InvalidArgument for an unknown one."""
    peaks = DEVICES.get(device)
    if peaks is None:
        raise errors.InvalidArgument("device", f"{device[:40]!r} is unknown; known are {', '.join(DEVICES)}")
    return peaks
