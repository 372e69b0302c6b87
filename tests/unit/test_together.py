"""Work that is done side by side."""

from __future__ import annotations

import asyncio

import pytest

from kernelvault.together import together


async def test_results_are_in_order() -> None:
    """The order is of the parts, not of their ends."""

    async def part(number: int) -> int:
        await asyncio.sleep(0.01 * (3 - number))
        return number

    assert await together(part(0), part(1), part(2)) == [0, 1, 2]


async def test_nothing_outlives_a_failure() -> None:
    """When the exception is out, the other parts have been cancelled and have cleaned up."""
    ended = []

    async def patient() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("patient")

    async def failing() -> None:
        await asyncio.sleep(0.01)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await together(patient(), failing())
    assert ended == ["patient"]
