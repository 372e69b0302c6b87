"""The published figures of accelerators agree with one another."""

from __future__ import annotations

import pytest

from kernelvault import devices, errors

# Operations a clock and unit, from ROCm's pages on MI250 and MI300; of MI355X derived from the white paper's peaks.
MATRIX = {
    "MI250X": {"f64": 256, "f32": 256, "f16": 1024, "f8": 1024},
    "MI300X": {"f64": 256, "f32": 256, "xf32": 1024, "f16": 2048, "f8": 4096},
    "MI325X": {"f64": 256, "f32": 256, "xf32": 1024, "f16": 2048, "f8": 4096},
    "MI355X": {"f64": 128, "f32": 256, "f16": 4096, "f8": 8192},
}


@pytest.mark.parametrize("name", devices.GPUS)
def test_peaks_agree_with_units_and_clock(name: str) -> None:
    """A peak is operations a clock and unit, times units, times clock; data sheets round to three digits."""
    gpu = devices.of(name)
    clocks = gpu.compute_units * gpu.clock_hz
    assert gpu.vector_flops["f32"] == pytest.approx(256 * clocks, rel=2e-3)
    assert gpu.vector_flops["f64"] == pytest.approx(128 * clocks, rel=2e-3)
    for dtype, operations in MATRIX[name].items():
        assert gpu.matrix_flops[dtype] == pytest.approx(operations * clocks, rel=2e-3), dtype


def test_l2_rates_are_the_white_papers() -> None:
    """34.4 TB/s for the eight dies of an MI300X, of which each reads 2 KiB a clock."""
    assert devices.of("MI300X").l2_bytes_per_s == pytest.approx(34.4e12, rel=1e-3)


def test_targets_group_the_accelerators() -> None:
    """Each stands under the target that the compiler builds for it, and those of a target have equal LDS."""
    assert {target: [gpu.name for gpu in gpus] for target, gpus in devices.TARGETS.items()} == {
        "gfx90a": ["MI250X"],
        "gfx942": ["MI300X", "MI325X"],
        "gfx950": ["MI355X"],
    }
    assert [devices.lds_bytes(target) >> 10 for target in ("gfx90a", "gfx942", "gfx950", "cpu")] == [64, 64, 160, 0]


def test_an_unknown_device_is_named() -> None:
    """The error lists what is known."""
    with pytest.raises(errors.InvalidArgument, match="'H100' is unknown; known are MI300X"):
        devices.of("H100")
