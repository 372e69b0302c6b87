"""Integer indices: sums of variables, quotients and remainders with coefficients, simplified as they are built.

The rules that matter: (i / n) * n + i % n is i; a quotient or remainder by n of terms that are multiples of n, plus a
rest below n, is known. So reshapes of contiguous tensors vanish.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from svc_generator.rules import sizes
from svc_generator.rules.graph import Size

if TYPE_CHECKING:
    from svc_generator.rules.expr import Expr


@dataclasses.dataclass(frozen=True)
class Var:
    """A loop variable in [0, size)."""

    name: str
    size: Size


@dataclasses.dataclass(frozen=True)
class Div:
    of: Lin
    by: Size


@dataclasses.dataclass(frozen=True)
class Mod:
    of: Lin
    by: Size


@dataclasses.dataclass(frozen=True)
class Indirect:
    """An index that is read from memory, in [0, size)."""

    value: Expr
    size: Size


Atom = Var | Div | Mod | Indirect


@dataclasses.dataclass(frozen=True)
class Lin:
    """The sum of `terms`, each an atom times a coefficient, and `const`."""

    terms: tuple[tuple[Atom, Size], ...]
    const: Size

    @cached_property
    def _hash(self) -> int:
        return hash((self.terms, self.const))

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def bounds(self) -> tuple[Size, Size]:
        """The least and the greatest value, case by case."""
        low = high = self.const
        for atom, coefficient in self.terms:
            top = tuple(c * (s - 1) for c, s in zip(coefficient, extent(atom), strict=True))
            low = tuple(a + min(t, 0) for a, t in zip(low, top, strict=True))
            high = tuple(a + max(t, 0) for a, t in zip(high, top, strict=True))
        return low, high


def extent(atom: Atom) -> Size:
    """The number of values of an atom, which starts at zero."""
    if isinstance(atom, Div):
        return tuple(h // b + 1 for h, b in zip(atom.of.bounds[1], atom.by, strict=True))
    if isinstance(atom, Mod):
        return tuple(min(h + 1, b) for h, b in zip(atom.of.bounds[1], atom.by, strict=True))
    return atom.size


def var(name: str, size: Size) -> Lin:
    """A variable as an index; one of size 1 is zero."""
    if sizes.is_one(size):
        return const(0, len(size))
    return Lin(((Var(name, size), sizes.constant(1, len(size))),), sizes.constant(0, len(size)))


def const(value: int | Size, count: int) -> Lin:
    return Lin((), value if isinstance(value, tuple) else sizes.constant(value, count))


def add(*parts: Lin) -> Lin:
    """The sum, with equal atoms merged and quotients joined with their remainders."""
    total: dict[Atom, Size] = {}
    offset = parts[0].const
    for part in parts[1:]:
        offset = sizes.add(offset, part.const)
    for part in parts:
        for atom, coefficient in part.terms:
            total[atom] = sizes.add(total[atom], coefficient) if atom in total else coefficient
    joined = _join(total)
    if joined is not None:
        return add(Lin((), offset), *joined)
    return Lin(_sorted(total), offset)


def _sorted(total: dict[Atom, Size]) -> tuple[tuple[Atom, Size], ...]:
    kept = [(atom, c) for atom, c in total.items() if any(c)]
    return tuple(sorted(kept, key=lambda item: repr(item[0])))


def _join(total: dict[Atom, Size]) -> list[Lin] | None:
    """Replaces x / n * (n * c) + x % n * c by x * c, once."""
    for atom, coefficient in total.items():
        if not isinstance(atom, Mod):
            continue
        whole = Div(atom.of, atom.by)
        whole_coefficient = sizes.mul(coefficient, atom.by)
        # The quotient may have been simplified into a sum that is already spread over the terms.
        simplified = scale(div(atom.of, atom.by), whole_coefficient)
        if all(total.get(a) == c for a, c in simplified.terms) and (simplified.terms or whole in total):
            rest = {a: c for a, c in total.items() if a != atom and a not in dict(simplified.terms)}
            parts = [Lin(_sorted(rest), sizes.constant(0, len(coefficient))), scale(atom.of, coefficient)]
            return [*parts, const(tuple(-c for c in simplified.const), len(coefficient))]
    return None


def scale(index: Lin, by: Size) -> Lin:
    """The index times an integer."""
    if sizes.is_one(by):
        return index
    terms = tuple((atom, sizes.mul(c, by)) for atom, c in index.terms if any(by))
    return Lin(terms, sizes.mul(index.const, by))


def _split(index: Lin, by: Size) -> tuple[Lin, Lin] | None:
    """`index` as high * by + low with 0 <= low < by, if its terms show it."""
    high: list[tuple[Atom, Size]] = []
    low: list[tuple[Atom, Size]] = []
    for atom, c in index.terms:
        if sizes.divides(by, c):
            high.append((atom, sizes.quotient(c, by)))
        else:
            low.append((atom, c))
    whole = tuple(c // b for c, b in zip(index.const, by, strict=True))
    rest = Lin(tuple(low), tuple(c - w * b for c, w, b in zip(index.const, whole, by, strict=True)))
    if all(x >= 0 for x in rest.bounds[0]) and all(x < b for x, b in zip(rest.bounds[1], by, strict=True)):
        return Lin(tuple(high), whole), rest
    return None


def _common(index: Lin, by: Size) -> tuple[Size, Lin, Lin] | None:
    """A coefficient that divides `by` and splits the index: the greatest first."""
    candidates = sorted({c for _, c in index.terms if sizes.divides(c, by)}, key=sum, reverse=True)
    for candidate in candidates:
        if not sizes.is_one(candidate) and (parts := _split(index, candidate)):
            return candidate, *parts
    return None


def div(index: Lin, by: Size) -> Lin:
    """The floor of the quotient; `index` is not negative."""
    if sizes.is_one(by):
        return index
    if parts := _split(index, by):
        return parts[0]
    if found := _common(index, by):
        return div(found[1], sizes.quotient(by, found[0]))
    if len(index.terms) == 1 and isinstance(inner := index.terms[0][0], Div) and index == atom_alone(inner, len(by)):
        return div(inner.of, sizes.mul(inner.by, by))
    return Lin(((Div(index, by), sizes.constant(1, len(by))),), sizes.constant(0, len(by)))


def atom_alone(atom: Atom, count: int) -> Lin:
    """An atom as an index."""
    return Lin(((atom, sizes.constant(1, count)),), sizes.constant(0, count))


def mod(index: Lin, by: Size) -> Lin:
    """The remainder; `index` is not negative."""
    if sizes.is_one(by):
        return const(0, len(by))
    if parts := _split(index, by):
        return parts[1]
    if found := _common(index, by):
        return add(scale(mod(found[1], sizes.quotient(by, found[0])), found[0]), found[2])
    kept = Lin(tuple((a, c) for a, c in index.terms if not sizes.divides(by, c)), index.const)
    if kept != index and all(x >= 0 for x in kept.bounds[0]):
        return mod(kept, by)
    return Lin(((Mod(index, by), sizes.constant(1, len(by))),), sizes.constant(0, len(by)))


def strides(dims: Sequence[Size], count: int) -> list[Size]:
    """Of a contiguous tensor, in elements."""
    result: list[Size] = []
    step = sizes.constant(1, count)
    for dim in reversed(dims):
        result.append(step)
        step = sizes.mul(step, dim)
    return result[::-1]


def flatten(indices: Sequence[Lin], dims: Sequence[Size], count: int) -> Lin:
    """The offset of an element in a contiguous tensor."""
    parts = [scale(i, step) for i, step in zip(indices, strides(dims, count), strict=True)]
    return add(const(0, count), *parts)


def unflatten(offset: Lin, dims: Sequence[Size], count: int) -> list[Lin]:
    """The indices of the element at an offset."""
    result: list[Lin] = []
    for position, (dim, step) in enumerate(zip(dims, strides(dims, count), strict=True)):
        part = div(offset, step)
        result.append(part if position == 0 else mod(part, dim))
    return [const(0, count) if sizes.is_one(dim) else part for part, dim in zip(result, dims, strict=True)]
