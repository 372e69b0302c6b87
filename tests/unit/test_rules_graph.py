"""Traces are read with bounds, and cases of one task become one graph."""

from __future__ import annotations

import json
from typing import Any

import pytest

from svc_generator.rules import graph


def _trace(rows: int, dtype: str, *, op: str = "aten.exp.default") -> dict[str, Any]:
    """exp of a vector, with a conversion to float32 before and back after for a narrow type, as torch traces it."""
    value = {"dtype": dtype, "dims": [rows]}
    wide = {"dtype": "float32", "dims": [rows]}
    nodes: list[dict[str, Any]] = [{"op": "input", "args": {}, "values": [value]}]
    if dtype != "float32":
        nodes.append({"op": "aten._to_copy.default", "args": {"self": {"node": 0}}, "values": [wide]})
    nodes.append({"op": op, "args": {"self": {"node": len(nodes) - 1}}, "values": [wide]})
    if dtype != "float32":
        nodes.append({"op": "aten._to_copy.default", "args": {"self": {"node": len(nodes) - 1}}, "values": [value]})
    return {"nodes": nodes, "outputs": [{"node": len(nodes) - 1}], "scalars": [rows]}


def _read(*traces: dict[str, Any]) -> graph.Graph:
    return graph.read(json.dumps(traces).encode())


def test_cases_of_different_dtypes_have_one_graph() -> None:
    """Conversions stand on the edges, sizes are vectors over the cases."""
    result = _read(_trace(3, "float32"), _trace(5, "float16"))
    assert [node.op for node in result.nodes] == ["input", "exp"]
    assert result.nodes[1].dims == ((3, 5),)
    assert result.nodes[1].args["self"].casts == ((), ("float32",))
    assert result.outputs[0].casts == ((), ("float16",))
    assert result.scalars == [(3, 5)]


def test_cases_of_different_operators_are_refused() -> None:
    """The operator that only one case has is named."""
    with pytest.raises(graph.NotLowerable, match="log: the cases trace to graphs of different operators"):
        _read(_trace(3, "float32"), _trace(3, "float32", op="aten.log.default"))


@pytest.mark.parametrize(
    "change",
    [
        {"nodes": [{"op": "input", "args": {}, "values": [{"dtype": "float32", "dims": [-1]}]}]},
        {"nodes": [{"op": "input", "args": {}, "values": [{"dtype": "float32", "dims": [1] * 9}]}]},
        {"outputs": [{"node": 7}]},
        {"nodes": 3},
    ],
)
def test_a_malformed_trace_is_refused(change: dict[str, Any]) -> None:
    """Foreign code may write what it wants; it is not believed."""
    with pytest.raises(graph.Malformed):
        _read(_trace(3, "float32") | change)


def test_an_unknown_dtype_is_named() -> None:
    """A dtype without arithmetic is not lowerable."""
    with pytest.raises(graph.NotLowerable, match="dtype complex64"):
        _read(_trace(3, "complex64"))


def test_empty_tensors_are_not_lowerable() -> None:
    """A case with a dimension of size 0 is said to be the reason."""
    with pytest.raises(graph.NotLowerable, match="size 0"):
        _read(_trace(0, "float32"))
