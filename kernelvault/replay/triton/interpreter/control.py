"""What rewritten text does in place of Python: numbers made tensors, logic of blocks, loops, assertions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import triton.language as tl

from kernelvault.replay.triton.interpreter.builder import Builder
from kernelvault.replay.triton.interpreter.faults import AssertionFailed, TooMuchWork
from kernelvault.replay.triton.interpreter.semantic import Semantic
from kernelvault.replay.triton.interpreter.tensors import Handle, Tensor
from kernelvault.replay.triton.waiting import WAITS

# A loop is weighed after so many rounds.
_WEIGHED_ROUNDS = (2, 16)
_MOST_ROUNDS_WAITED = 4096


class Control:
    """The helpers that `functions.Function` calls, and Python's own functions as a kernel has them."""

    def __init__(self, semantic: Semantic, builder: Builder) -> None:
        self.semantic, self.builder = semantic, builder
        # Of loops that wait for another program, in one program.
        self.rounds_waited = 0
        # The most that all launches together may cost.
        self.budget_ns = math.inf

    def helpers(self) -> dict[str, Any]:
        """By the names that rewritten text has for them."""
        return {
            "_kv_assigned": self.assigned,
            "_kv_and": self._and,
            "_kv_or": self._or,
            "_kv_not": self._not,
            "_kv_value": lambda value: getattr(value, "value", value),
            "_kv_assert": self.check,
            "_kv_waited": self._waited,
        }

    def assigned(self, value: Any) -> Any:
        """A value as a variable holds it: numbers are tensors."""
        kind = value.__class__
        if kind is Tensor:
            return value
        if kind is tuple:
            return tuple(map(self.assigned, value))
        return self.semantic.to_tensor(value, False)

    def _and(self, left: Any, right: Callable[[], Any]) -> Any:
        if isinstance(left, Tensor) and left.type.is_block():
            return self.semantic.logical_and(left, self.semantic.to_tensor(right()))
        return right() if left else left

    def _or(self, left: Any, right: Callable[[], Any]) -> Any:
        if isinstance(left, Tensor) and left.type.is_block():
            return self.semantic.logical_or(left, self.semantic.to_tensor(right()))
        return left if left else right()

    def _not(self, value: Any) -> Any:
        return self.semantic.not_(value) if isinstance(value, Tensor) else not value

    def _waited(self) -> None:
        self.rounds_waited += 1
        if self.rounds_waited > _MOST_ROUNDS_WAITED:
            raise NotImplementedError(WAITS)

    def check(self, condition: Any, message: Any = "", mask: Any = None) -> None:
        """`tl.device_assert`; raises AssertionFailed."""
        holds = self.semantic.to_tensor(condition).handle.data
        if mask is not None:
            holds = holds | ~self.semantic.to_tensor(mask).handle.data
        self.builder.create_assert(Handle(holds, tl.int1), str(plain(message)))

    def range(self, first: Any, stop: Any = None, step: Any = None, **_: Any) -> Iterator[Tensor]:
        """Counts in tensors; a loop that would cost too much ends with TooMuchWork after its first rounds."""
        start, end = (0, first) if stop is None else (first, stop)
        bounds = [self.semantic.to_tensor(plain(bound)) for bound in (start, end, 1 if step is None else step)]
        type_ = bounds[0].type
        for other in bounds[1:]:
            type_ = self.semantic.integer_promote_impl(type_.scalar, other.type.scalar)
        numbers = range(*map(int, bounds))
        before = self.builder.cost_ns
        for done, number in enumerate(numbers):
            if done in _WEIGHED_ROUNDS or done & 0x3FF == 0x3FF:
                self._weigh(before, done, len(numbers))
            yield self.semantic.scalar_constant(number, type_.scalar)

    def _weigh(self, before: float, done: int, rounds: int) -> None:
        whole = before + (self.builder.cost_ns - before) / done * rounds
        if whole > self.budget_ns:
            raise TooMuchWork(f"a loop of {rounds} rounds")


def plain(value: Any) -> Any:
    """A constant without its wrapping."""
    return value.value if isinstance(value, tl.constexpr) else value


def static_range(first: Any, stop: Any = None, step: Any = None) -> range:
    """`tl.static_range`: counts in numbers."""
    start, end = (0, first) if stop is None else (first, stop)
    return range(int(plain(start)), int(plain(end)), int(plain(1 if step is None else step)))


def static_assert(condition: Any, message: Any = "") -> None:
    """`tl.static_assert`; raises AssertionFailed."""
    if not plain(condition):
        raise AssertionFailed(str(plain(message)) or "a static assertion")


def get_attribute(value: Any, name: str, *default: Any) -> Any:
    """Python's `getattr`, of what is public."""
    if name.startswith("_"):
        raise AttributeError(name)
    return getattr(value, name, *default)
