"""Ways to launch and to lay out what Inductor wrote, best first, and the block sizes of each."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Mapping
from typing import Any

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
    # Rows and columns of a tile of a product, and how deep its steps are.
    tile: tuple[int, int, int] = (64, 64, 32)
    tile_warps: int = 4
    waves_per_eu: int = 0


LADDER = (
    Variant("loops", "Inductor's fusion; rows are folded in a loop, products go through 64 x 64 tiles."),
    Variant(
        "rows",
        "A whole row in registers, read once, where rows are short enough.",
        cures=("memory",),
        persistent=True,
    ),
    Variant(
        "wide",
        "Twice the elements a program, longer rows with more waves, tiles of 128 x 64 that are 64 deep.",
        cures=("memory", "compute", "lds"),
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
        elements=512,
        row=512,
        warps=2,
        tile=(32, 32, 32),
        tile_warps=2,
        waves_per_eu=2,
    ),
)


def launch_options(variant: Variant, kernel: Kernel, sizes: Mapping[str, str]) -> dict[str, ast.expr]:
    """The block sizes and options of a launch, as expressions of what the launch gets."""
    blocks = _blocks(variant, kernel)
    if kernel.kind != "pointwise" and not kernel.dots and kernel.blocks[-1] == "RBLOCK":
        rnumel, most = sizes["rnumel"], blocks["RBLOCK"]
        block = f"min({most}, triton.next_power_of_2({rnumel}))"
        if rnumel.isdigit():
            block = str(min(most, next_power_of_2(int(rnumel))))
        elif kernel.kind == "persistent_reduction":
            block = f"triton.next_power_of_2({rnumel})"
        blocks["RBLOCK"] = ast.parse(block, mode="eval").body
    options: dict[str, Any] = {name: blocks[name] for name in kernel.blocks}
    options["num_warps"] = variant.tile_warps if kernel.dots else variant.warps
    if kernel.dots:
        options["num_stages"] = 2
    if variant.waves_per_eu:
        options["waves_per_eu"] = variant.waves_per_eu
    return {name: value if isinstance(value, ast.expr) else ast.Constant(value) for name, value in options.items()}


def next_power_of_2(number: int) -> int:
    """The smallest power of 2 that is not below a positive number."""
    return 1 << (number - 1).bit_length()


def _blocks(variant: Variant, kernel: Kernel) -> dict[str, Any]:
    if kernel.dots:
        rows, columns, depth = variant.tile
        return {"ZBLOCK": 1, "YBLOCK": rows, "XBLOCK": columns, "RBLOCK": depth}
    if kernel.kind == "pointwise":
        spatial = [name for name in kernel.blocks if name in ("XBLOCK", "YBLOCK", "ZBLOCK")]
        side = variant.elements
        if len(spatial) == 1:
            return {"XBLOCK": side}
        if len(spatial) == 2:
            return {"XBLOCK": 32, "YBLOCK": side // 32}
        return {"XBLOCK": 16, "YBLOCK": 8, "ZBLOCK": side // 128}
    if kernel.hint.startswith("OUTER"):
        return {"XBLOCK": 64, "YBLOCK": 1, "RBLOCK": 16, "R0_BLOCK": 16, "R1_BLOCK": 1}
    return {"XBLOCK": 1, "YBLOCK": 1, "RBLOCK": variant.row, "R0_BLOCK": variant.row, "R1_BLOCK": 1}
