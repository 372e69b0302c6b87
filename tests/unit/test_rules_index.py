"""The index algebra of the rules: what it simplifies stays equal."""

from __future__ import annotations

import itertools
import math

from hypothesis import given
from hypothesis import strategies as st

from svc_generator.rules import index, sizes
from svc_generator.rules.graph import Size
from svc_generator.rules.index import Div, Lin, Mod, Var

_DIMS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=4)


def _evaluate(at: Lin, values: dict[str, int], case: int) -> int:
    total = at.const[case]
    for atom, coefficient in at.terms:
        if isinstance(atom, Var):
            value = values[atom.name]
        elif isinstance(atom, Div):
            value = _evaluate(atom.of, values, case) // atom.by[case]
        else:
            assert isinstance(atom, Mod)
            value = _evaluate(atom.of, values, case) % atom.by[case]
        total += value * coefficient[case]
    return total


def _product(dims: list[Size]) -> Size:
    return sizes.mul((1, 1), *dims)


@given(_DIMS)
def test_flatten_undoes_unflatten(dims: list[Size]) -> None:
    """The offset of the element at an offset is that offset, and is seen to be."""
    offset = index.var("i", _product(dims))
    assert index.flatten(index.unflatten(offset, dims, 2), dims, 2) == offset


@given(_DIMS, _DIMS)
def test_a_reshape_keeps_the_order_of_elements(first: list[Size], second: list[Size]) -> None:
    """Indices through any two shapes name the element that plain arithmetic names, in every case."""
    offset = index.var("i", _product(first))
    wide = [*second, tuple(-(-a // b) for a, b in zip(_product(first), _product(second), strict=True))]
    through = index.flatten(index.unflatten(offset, wide[::-1], 2), wide[::-1], 2)
    for case in (0, 1):
        for value in range(_product(first)[case]):
            assert _evaluate(through, {"i": value}, case) == value


@given(st.lists(st.integers(2, 5), min_size=2, max_size=4), st.data())
def test_quotients_and_remainders_are_exact(dims: list[int], data: st.DataObject) -> None:
    """div and mod of a sum of loop variables agree with integers for every value of the variables."""
    names = [f"x{n}" for n in range(len(dims))]
    shape = [(d,) for d in dims]
    offset = index.flatten([index.var(n, d) for n, d in zip(names, shape, strict=True)], shape, 1)
    by = data.draw(st.integers(1, 2 * math.prod(dims)))
    quotient, remainder = index.div(offset, (by,)), index.mod(offset, (by,))
    for values in itertools.product(*(range(d) for d in dims)):
        given_values = dict(zip(names, values, strict=True))
        plain = _evaluate(offset, given_values, 0)
        assert _evaluate(quotient, given_values, 0) == plain // by
        assert _evaluate(remainder, given_values, 0) == plain % by


def test_sizes_become_expressions_of_the_inputs() -> None:
    """Products, quotients, windows and shifted sizes are found from the sizes that a launcher gets."""
    known = sizes.Sizes(3)
    known.define((4, 6, 10), "rows")
    known.define((3, 5, 7), "cols")
    assert known.expression((12, 30, 70)) == "rows * cols"
    assert known.expression((2, 3, 5)) == "(rows / 2)"
    assert known.expression((5, 7, 11)) == "(rows + 1)"
    assert known.expression((9, 9, 9)) == "9"


def test_a_scale_becomes_a_power_of_a_size() -> None:
    """The scale of attention, width ** -0.5, is computed from the width."""
    known = sizes.Sizes(2)
    known.define((16, 64), "width")
    assert known.float_expression((0.25, 0.125)) == "1.0 * pow(double(width), -0.5)"
