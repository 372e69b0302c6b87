"""Splits long reductions that have few results: partial folds first, so that the whole device works."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from svc_generator.rules import expr, index, sizes
from svc_generator.rules.expr import Expr
from svc_generator.rules.graph import Size
from svc_generator.rules.index import Lin
from svc_generator.rules.prelude import parts_of
from svc_generator.rules.program import Definition, Program, Reduce

_FEW = 512
_START = {"sum": 0.0, "max": float("-inf"), "min": float("inf"), "prod": 1.0}


def split(program: Program, known: sizes.Sizes) -> list[Definition]:
    """The definitions, with long reductions in two steps."""
    result: list[Definition] = []
    for definition in program.definitions:
        result += _split(program, known, definition) if _is_long(definition) else [definition]
    return result


def _is_long(definition: Definition) -> bool:
    return (
        isinstance(definition, Reduce)
        and definition.kind in _START
        and definition.flat is not None
        and expr.working(definition.target.dtype) in ("float32", "float64")
        and any(o < _FEW and parts_of(r) > 1 for o, r in zip(definition.outer, definition.inner, strict=True))
    )


def _split(program: Program, known: sizes.Sizes, whole: Definition) -> Sequence[Definition]:
    assert isinstance(whole, Reduce)
    parts: Size = tuple(parts_of(r) for r in whole.inner)
    chunk: Size = tuple(-(-r // p) for r, p in zip(whole.inner, parts, strict=True))
    length = known.expression(whole.inner)
    known.define(parts, f"parts_of({length})")
    known.define(chunk, f"ceil_div({length}, parts_of({length}))")
    work = expr.working(whole.target.dtype)
    partial = dataclasses.replace(whole.target, name=f"{whole.target.name}_parts", dtype=work, role="scratch")
    partial = dataclasses.replace(partial, dims=(whole.outer, parts))

    def first(o: Lin, r: Lin) -> Expr:
        place = index.add(index.scale(index.mod(o, parts), chunk), r)
        inside = expr.compare("lt", expr.from_index(place), expr.from_index(index.const(whole.inner, program.count)))
        # Beyond its end a row has nothing to say; the bounds of `place` are unknown to the index rules.
        return expr.guard(inside, whole.body(index.div(o, parts), place), expr.number(_START[whole.kind], work))

    def second(o: Lin, r: Lin) -> Expr:
        return expr.load(partial, index.flatten((o, r), (whole.outer, parts), program.count))

    def flat(o: Lin, r: Lin) -> Lin:
        return index.flatten((o, r), (whole.outer, chunk), program.count)

    return [
        Reduce(partial, sizes.mul(whole.outer, parts), chunk, whole.kind, first, flat),
        Reduce(whole.target, whole.outer, parts, whole.kind, second, None),
    ]
