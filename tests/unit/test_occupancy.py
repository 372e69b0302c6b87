"""The occupancy of CDNA's compute units, by hand-computed cases."""

from __future__ import annotations

import pytest

from kernelvault.replay import occupancy


@pytest.mark.parametrize(
    ("target", "registers", "lds", "threads", "expected"),
    [
        # 512 // 64 = 8 waves: nothing limits.
        ("gfx942", 64, 0, 256, (8, "waves", 8)),
        # 65 take 72: 512 // 72 = 7 waves a SIMD, 28 a unit, 7 blocks of 4 waves.
        ("gfx942", 65, 0, 256, (7, "vgprs", 7)),
        ("gfx942", 128, 0, 256, (4, "vgprs", 4)),
        ("gfx942", 448, 0, 256, (1, "vgprs", 1)),
        # 64 KiB hold two blocks of 32 KiB; 160 KiB hold four of 26 * 1280 bytes, five of 25 * 1280.
        ("gfx942", 32, 32 << 10, 256, (2, "lds", 2)),
        ("gfx950", 32, 32 << 10, 256, (4, "lds", 4)),
        ("gfx950", 32, 32_000, 256, (5, "lds", 5)),
        # LDS is given out in 512 bytes, 1280 on gfx950.
        ("gfx942", 32, (8 << 10) + 1, 256, (7, "lds", 7)),
        # 32 waves hold two blocks of 11 waves: 22 waves.
        ("gfx90a", 32, 0, 704, (5.5, "block", 2)),
        # 5 waves a SIMD, 20 a unit: one block of 16.
        ("gfx90a", 100, 0, 1024, (4, "vgprs", 1)),
        ("gfx942", 32, 65 << 10, 64, (0, "lds", 0)),
        ("gfx942", 0, 0, 1, (8, "waves", 32)),
    ],
)
def test_occupancy(target: str, registers: int, lds: int, threads: int, expected: tuple[float, str, int]) -> None:
    """Waves a SIMD, their limit and blocks a unit follow from registers, LDS and block size."""
    assert occupancy.of(target, registers=registers, sgprs=16, lds_bytes=lds, threads=threads) == expected


def test_many_scalar_registers_cost_a_wave() -> None:
    """Beyond 100 scalar registers a SIMD holds seven waves."""
    found = occupancy.of("gfx942", registers=16, sgprs=102, lds_bytes=0, threads=64)
    assert (found.waves, found.limit) == (7, "sgprs")
