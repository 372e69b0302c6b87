"""Integers as vectors over the cases, and the C++ expressions that give such vectors from what a launcher gets.

Two sizes that are equal in every case are one size to us. What comes of it holds for the task's cases by construction;
for other shapes it holds where the cases tell the sizes apart.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from svc_generator.rules.graph import NotLowerable, Size

_DEPTH = 4
_SHIFT = 8
_POWERS = (-0.5, 0.5, -1.0, 1.0, -0.25, 0.25, -2.0)


def mul(*sizes: Size) -> Size:
    """The product, case by case."""
    result = sizes[0]
    for size in sizes[1:]:
        result = tuple(a * b for a, b in zip(result, size, strict=True))
    return result


def add(a: Size, b: Size) -> Size:
    """The sum, case by case."""
    return tuple(x + y for x, y in zip(a, b, strict=True))


def divides(by: Size, size: Size) -> bool:
    """True if `size` is a multiple of `by` in every case."""
    return all(b != 0 and s % b == 0 for s, b in zip(size, by, strict=True))


def quotient(size: Size, by: Size) -> Size:
    """The exact quotient."""
    return tuple(s // b for s, b in zip(size, by, strict=True))


def constant(value: int, count: int) -> Size:
    """The same integer in each of `count` cases."""
    return (value,) * count


def is_one(size: Size) -> bool:
    return all(s == 1 for s in size)


class Sizes:
    """Names of integers and floats that the launcher knows, and expressions over them."""

    def __init__(self, case_count: int) -> None:
        self.case_count = case_count
        self._named: dict[Size, str] = {}
        self._floats: dict[tuple[float, ...], str] = {}
        self._failed: set[tuple[Size, int]] = set()
        # Expressions that are looked up, but not combined with others.
        self._products: dict[Size, str] = {}

    def describe(self, dims: Sequence[Size]) -> None:
        """Learns a tensor's dimensions and the products of neighbouring ones: what strides and counts are made of."""
        found = [self._find(dim, _DEPTH) for dim in dims]
        for start, end in itertools.combinations(range(len(dims) + 1), 2):
            names = [name for name in found[start:end] if name is not None]
            if len(names) == end - start:
                factors = [name if name.isidentifier() else f"({name})" for name in names if name != "1"]
                self._products.setdefault(mul(*dims[start:end]), " * ".join(factors) or "1")

    def define(self, size: Size, expression: str) -> None:
        """Names a size; the first name stays, but a constant never gets one."""
        if len(set(size)) == 1 and size[0] in (0, 1):
            return
        self._named.setdefault(size, expression)

    def define_float(self, values: Sequence[float], expression: str) -> None:
        """Names a floating-point scalar of the call."""
        self._floats.setdefault(tuple(float(v) for v in values), expression)

    def expression(self, size: Size) -> str:
        """C++ of type int64_t; raises NotLowerable where none is found."""
        found = self._find(size, _DEPTH)
        if found is None:
            raise NotLowerable("a size", f"no expression of the inputs' sizes gives {list(size)} in the task's cases")
        return found

    def _find(self, size: Size, depth: int) -> str | None:
        if size in self._named:
            return self._named[size]
        if size in self._products and len(set(size)) > 1:
            return self._products[size]
        if len(set(size)) == 1:
            return f"INT64_C({size[0]})" if abs(size[0]) > 2**31 else str(size[0])
        if set(size) == {0, 1}:
            # Where a dimension is stretched in some cases only.
            return next((f"int64_t({n} != 1)" for b, n in self._bases() if tuple(int(x != 1) for x in b) == size), None)
        if depth == 0 or (size, depth) in self._failed:
            return None
        found = self._product(size, depth) or self._quotient(size, depth) or self._sum(size, depth)
        if found is None:
            self._failed.add((size, depth))
        else:
            self._named[size] = found
        return found

    def _bases(self) -> list[tuple[Size, str]]:
        return [(base, name) for base, name in self._named.items() if len(set(base)) > 1]

    def _product(self, size: Size, depth: int) -> str | None:
        """A known size times what is left."""
        for base, name in self._bases():
            if divides(base, size) and (rest := self._find(quotient(size, base), depth - 1)):
                return f"{name} * {rest}" if " " not in rest else f"{name} * ({rest})"
        return None

    def _quotient(self, size: Size, depth: int) -> str | None:
        """A known size, maybe moved by a little, divided by a small constant (as windows do) or by a known size."""
        if depth < _DEPTH - 2:
            return None
        for base, name in self._bases():
            for by in (2, 3, 4, 8, 16):
                for shift in range(-_SHIFT, _SHIFT + 1):
                    if all((b + shift) // by == s for b, s in zip(base, size, strict=True)):
                        return f"(({name} + {shift}) / {by})" if shift else f"({name} / {by})"
        if depth < _DEPTH - 1:
            return None
        bases = self._bases()
        for (a, a_name), (b, b_name) in itertools.product(bases, bases):
            if divides(b, a) and quotient(a, b) == size:
                return f"({a_name} / ({b_name}))"
        return None

    def _sum(self, size: Size, depth: int) -> str | None:
        """A known size plus another, or plus a constant."""
        if depth < _DEPTH - 1:
            return None
        for base, name in self._bases():
            rest = tuple(s - b for s, b in zip(size, base, strict=True))
            if len(set(rest)) == 1 and abs(rest[0]) < 4096:
                return f"({name} + {rest[0]})" if rest[0] > 0 else f"({name} - {-rest[0]})"
            if rest in self._named:
                return f"({name} + {self._named[rest]})"
            if negative := self._named.get(tuple(-r for r in rest)):
                return f"({name} - ({negative}))"
        return None

    def float_expression(self, values: Sequence[float]) -> str:
        """C++ of type double for a float in each case: a scalar of the call, or a power of a size times a constant."""
        key = tuple(float(v) for v in values)
        if key in self._floats:
            return self._floats[key]
        if all(v == int(v) for v in key if abs(v) < 2**53) and all(abs(v) < 2**53 for v in key):
            whole = self._find(tuple(int(v) for v in key), _DEPTH)
            if whole is not None:
                return f"double({whole})"
        for base, name in self._bases():
            for power in _POWERS:
                factors = [v / b**power for v, b in zip(key, base, strict=True) if b > 0]
                if len(factors) == len(key) and max(abs(f - factors[0]) for f in factors) <= 1e-12 * abs(factors[0]):
                    return f"{factors[0]!r} * pow(double({name}), {power})"
        for known, name in self._floats.items():
            factors = [v / b for v, b in zip(key, known, strict=True) if b != 0]
            if len(factors) == len(key) and max(abs(f - factors[0]) for f in factors) <= 1e-12 * abs(factors[0]):
                return f"{factors[0]!r} * {name}"
        raise NotLowerable("a number", f"no expression of the sizes and scalars gives {list(key)} in the task's cases")
