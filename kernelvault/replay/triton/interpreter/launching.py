"""Runs the programs of a launch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import triton.language as tl

from kernelvault.replay.triton.interpreter.faults import TooMuchWork
from kernelvault.replay.triton.interpreter.functions import Function
from kernelvault.replay.triton.interpreter.language import Language
from kernelvault.replay.triton.interpreter.tensors import Handle, Tensor

Grid = tuple[int, int, int]
# Of the budget, before the first programs stand for all (one may do the work of the others), unless all would cost so
# many times as much.
_TRIAL_SHARE, _MOST_TIMES = 1 / 16, 1000


class Order(Sequence[int]):
    """The numbers of the programs to run, in their order."""

    def __init__(self, grid: Grid, sampled: int, *, backwards: bool) -> None:
        self.grid = grid
        self._count = grid[0] * grid[1] * grid[2]
        self._chosen = min(self._count, sampled) if sampled else self._count
        self._backwards = backwards

    def __len__(self) -> int:
        return self._chosen

    def __getitem__(self, index: Any) -> Any:
        if not 0 <= index < self._chosen:
            raise IndexError(index)
        number = self._chosen - 1 - index if self._backwards else index
        return number * self._count // self._chosen


def order(grid: Grid, sampled: int = 0, *, backwards: bool = False) -> Order:
    """All programs of a grid, or at most `sampled` of them if that is not 0, evenly spread."""
    return Order(grid, sampled, backwards=backwards)


def place(number: int, grid: Grid) -> Grid:
    """The coordinates of a program."""
    return number % grid[0], number // grid[0] % grid[1], number // (grid[0] * grid[1])


def launch(
    language: Language,
    function: Function,
    arguments: Mapping[str, Any],
    numbers: Order,
    *,
    begin_program: Callable[[int], None] = lambda number: None,
) -> None:
    """Runs programs one after the other.

    Raises TooMuchWork once it is plain that they cost more than the language's budget, and whatever a program raises.
    """
    language.activate()
    builder = language.builder
    builder.grid = numbers.grid
    before, count = builder.cost_ns, len(numbers)
    with np.errstate(all="ignore"):
        for done, number in enumerate(numbers):
            builder.program = place(number, numbers.grid)
            begin_program(number)
            language.control.rounds_waited = 0
            function(**arguments)
            spent, whole = builder.cost_ns - before, (builder.cost_ns - before) / (done + 1) * count
            share = max(spent / _TRIAL_SHARE, whole / _MOST_TIMES)
            if before + whole > language.control.budget_ns and share > language.control.budget_ns:
                raise TooMuchWork(f"{count} programs")


def pointer(address: int, type_: tl.pointer_type) -> Tensor:
    """An argument that is an address."""
    return Tensor(Handle(np.array([address], np.int64), type_), type_)
