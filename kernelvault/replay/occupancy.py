"""How many waves of a kernel a compute unit of CDNA holds, and what keeps it from holding more.

Sources: "AMD Instinct MI200/MI300 Instruction Set Architecture" (512 unified vector registers a lane and SIMD, given
out in eights) and LLVM's AMDGPU back end (8 waves a SIMD; scalar registers; granules of LDS).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from kernelvault import devices

SIMDS = 4
MAX_WAVES = 8
WAVE_SIZE = 64
_VGPRS, _VGPR_GRANULE = 512, 8
_LDS_GRANULE = {"gfx90a": 512, "gfx942": 512, "gfx950": 1280}


class Occupancy(NamedTuple):
    """Resident waves a SIMD, of at most 8, and the limit: `vgprs`, `sgprs`, `lds`, `block` or `waves`."""

    waves: float
    limit: str
    # Blocks that a compute unit holds at once.
    blocks: int


def of(target: str, *, registers: int, sgprs: int, lds_bytes: int, threads: int) -> Occupancy:
    """The occupancy of a kernel whose lanes take `registers` vector registers, AGPRs included, in blocks of `threads`.

    waves by registers = min(8, 512 // registers rounded up to 8), blocks = min(4 * waves // waves a block, LDS // LDS
    of a block), with `lds_bytes` static and dynamic. `waves`: nothing limits it. `block`: blocks are so large that the
    last one no longer fits. Raises KeyError for an unknown target; 0 blocks where one does not fit at all.
    """
    waves_a_block = max(1, math.ceil(threads / WAVE_SIZE))
    granted = max(_VGPR_GRANULE, math.ceil(registers / _VGPR_GRANULE) * _VGPR_GRANULE)
    by_vgprs, by_sgprs = min(MAX_WAVES, _VGPRS // granted), 7 if sgprs > 100 else MAX_WAVES
    by_registers = min(by_vgprs, by_sgprs)
    blocks = SIMDS * by_registers // waves_a_block
    granule = _LDS_GRANULE[target]
    by_lds = devices.lds_bytes(target) // (math.ceil(lds_bytes / granule) * granule) if lds_bytes > 0 else blocks
    limit = "waves"
    if by_lds < blocks:
        blocks, limit = by_lds, "lds"
    elif by_registers < MAX_WAVES:
        limit = "vgprs" if by_vgprs <= by_sgprs else "sgprs"
    elif blocks * waves_a_block < SIMDS * MAX_WAVES:
        limit = "block"
    return Occupancy(blocks * waves_a_block / SIMDS, limit, blocks)
