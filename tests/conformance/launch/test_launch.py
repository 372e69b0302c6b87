"""Launch forms, and what host code does around them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.conformance.harness import Array, Feature, Machine, Program, Unsafe, integers, numbers

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]
launch = Feature(__file__)


@launch.program(x=numbers(1000))
def chevrons(x: Array) -> Array:
    """`<<<grid, block, lds, stream>>>`."""
    return x * np.float32(2)


@launch.program(x=integers(1000, dtype=np.uint32, low=0))
def macro_form(x: Array) -> Array:
    """hipLaunchKernelGGL with a template in parentheses."""
    return x + np.uint32(5)


@launch.program(x=numbers(1000))
def one_past_the_end(x: Array) -> Unsafe:
    """A store beyond the output is found, with its line."""
    return Unsafe("OUT_OF_BOUNDS", ("out0",))


@launch.cases()
async def test_launch(machine: Machine, program: Program, tmp_path: Path) -> None:
    """Each program does what its twin says."""
    await machine.check(program, tmp_path)
