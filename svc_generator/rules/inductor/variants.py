"""Ways to launch and to lay out what Inductor wrote, best first, and the block sizes of each."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from svc_generator.rules.inductor.kernels import Kernel


@dataclasses.dataclass(frozen=True)
class Variant:
    """Block sizes in elements, and how often a program's waves share a SIMD."""

    name: str
    idea: str
    cures: tuple[str, ...] = ()
    # Elements of a program of an elementwise kernel, and its waves.
    elements: int = 1024
    warps: int = 4
    # Elements of a row that a program folds at a time, at most; `persistent`: all of a row that is short enough.
    row: int = 1024
    persistent: bool = False
    longest: int = 8192
    # Rows and columns of a tile of a product, and how deep its steps are.
    tile: tuple[int, int, int] = (64, 64, 32)
    tile_warps: int = 4
    waves_per_eu: int = 0


LADDER = (
    Variant(
        "rows",
        "Inductor's fusion; a row is read once, into registers, where rows are short; 64 x 64 tiles for products.",
        cures=("memory",),
        persistent=True,
    ),
    Variant("loops", "Rows are folded in loops, which suits rows of any length."),
    Variant(
        "wide",
        "Twice the elements a program, more waves for rows, tiles of 128 x 64 that are 64 deep.",
        cures=("memory", "compute", "lds"),
        persistent=True,
        elements=2048,
        row=4096,
        warps=8,
        tile=(128, 64, 64),
        tile_warps=8,
    ),
    Variant(
        "narrow",
        "Small programs, more of them at once: tiles of 32 x 32, two waves for each SIMD.",
        cures=("latency",),
        persistent=True,
        elements=512,
        row=512,
        warps=2,
        tile=(32, 32, 32),
        tile_warps=2,
        waves_per_eu=2,
    ),
)


def launch(variant: Variant, kernel: Kernel, sizes: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """Statements before a launch, and its block sizes and options, in Python.

    `sizes` are the launch's arguments by the kernel's parameters.
    """
    lines: list[str] = []
    blocks = {name: str(size) for name, size in _blocks(variant, kernel).items()}
    if kernel.dots:
        blocks = {name: _tile(int(size), sizes.get(f"{name[:-5].lower()}numel", "")) for name, size in blocks.items()}
    warps = str(variant.tile_warps if kernel.dots else variant.warps)
    if kernel.blocks[-1:] == ["RBLOCK"] and not kernel.dots:
        whole = kernel.kind == "persistent_reduction"
        lines.append(f"rblock = {_row(sizes['rnumel'], None if whole else int(blocks['RBLOCK']))}")
        blocks["RBLOCK"] = "rblock"
        if blocks["XBLOCK"] == "1":
            # Short rows share a program.
            blocks["XBLOCK"] = f"max(1, {variant.elements} // rblock)"
        if whole:
            warps = f"{variant.warps} if rblock <= 2048 else {2 * variant.warps}"
    options = {name: blocks[name] for name in kernel.blocks} | {"num_warps": warps}
    if kernel.dots:
        options["num_stages"] = "2"
    if variant.waves_per_eu:
        options["waves_per_eu"] = str(variant.waves_per_eu)
    return lines, options


def _tile(block: int, length: str) -> str:
    """One side of a tile of a product: 16 at least, and no more than a known length needs."""
    return str(min(block, max(16, 1 << (int(length) - 1).bit_length())) if length.isdigit() else block)


def _row(length: str, most: int | None) -> str:
    """The elements of a row that a program takes at once."""
    power = str(1 << (int(length) - 1).bit_length()) if length.isdigit() else f"triton.next_power_of_2({length})"
    return power if most is None else f"min({most}, {power})"


def _blocks(variant: Variant, kernel: Kernel) -> dict[str, int]:
    if kernel.dots:
        rows, columns, depth = variant.tile
        return {"ZBLOCK": 1, "YBLOCK": rows, "XBLOCK": columns, "RBLOCK": depth}
    if kernel.kind == "pointwise":
        spatial = [name for name in kernel.blocks if name in ("XBLOCK", "YBLOCK", "ZBLOCK")]
        if len(spatial) == 1:
            return {"XBLOCK": variant.elements}
        if len(spatial) == 2:
            return {"XBLOCK": 32, "YBLOCK": variant.elements // 32}
        return {"XBLOCK": 16, "YBLOCK": 8, "ZBLOCK": variant.elements // 128}
    if kernel.hint.startswith("OUTER"):
        return {"XBLOCK": 64, "YBLOCK": 1, "RBLOCK": 16, "R0_BLOCK": 16, "R1_BLOCK": 1}
    return {"XBLOCK": 1, "YBLOCK": 1, "RBLOCK": variant.row, "R0_BLOCK": variant.row, "R1_BLOCK": 1}
