"""The traced graphs, read with bounds and laid over one another: one graph in which a number is its value in each case.

A task's cases trace to graphs that differ in sizes and in conversions between floating-point types. Conversions move
from the nodes onto the edges, so that the graphs of all dtypes have one skeleton.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any

Size = tuple[int, ...]
"""An integer in each case."""

DTYPES = ("float16", "bfloat16", "float32", "float64", "int64", "int32", "int16", "int8", "uint8", "bool")
FLOATS = DTYPES[:4]
MAX_BYTES = 32 << 20
_MAX_NODES = 4096
_MAX_RANK = 8
_MAX_INT = 1 << 62

_COPIES = {
    "clone",
    "alias",
    "detach",
    "lift_fresh_copy",
    "lift_fresh",
    "contiguous",
    "_to_copy",
    "convert_element_type",
}
_RESHAPES = {"view", "_unsafe_view", "reshape", "unsqueeze", "squeeze", "flatten"}


class Malformed(Exception):
    """The trace is not what the tracer writes: foreign code had a hand in it."""


class NotLowerable(Exception):
    """The rules have none for this; `operator` names what it is."""

    def __init__(self, operator: str, why: str) -> None:
        super().__init__(f"{operator}: {why}")
        self.operator = operator


@dataclasses.dataclass(frozen=True)
class Ref:
    """A use of a node's result, through conversions to dtypes, for each case."""

    node: int
    casts: tuple[tuple[str, ...], ...]


@dataclasses.dataclass(frozen=True)
class Varying:
    """A float or a bool that differs between cases."""

    values: tuple[float, ...]


@dataclasses.dataclass
class Node:
    """An operator and what it gives in each case. Integers that differ between cases are `Size`."""

    op: str
    args: dict[str, Any]
    dims: tuple[Size, ...]
    dtypes: tuple[str, ...]
    # As the tracer named it, with its overload.
    target: str = ""


@dataclasses.dataclass
class Graph:
    """All cases in one."""

    nodes: list[Node]
    outputs: list[Ref]
    scalars: list[Any]
    case_count: int
    inputs: list[int]


def read(data: bytes) -> Graph:
    """Raises Malformed for anything a tracer does not write, NotLowerable where the cases have no common graph."""
    if len(data) > MAX_BYTES:
        raise Malformed(f"{len(data)} bytes are above the limit of {MAX_BYTES}")
    try:
        traces = [_normal(trace) for trace in json.loads(data)]
        return _unify(traces)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise Malformed(f"failed to read the trace: {type(error).__name__}: {error}") from error


def _normal(trace: dict[str, Any]) -> dict[str, Any]:
    """One case without copies and conversions, which become parts of the references to their operands."""
    if len(trace["nodes"]) > _MAX_NODES:
        raise NotLowerable("the graph", f"more than {_MAX_NODES} operators")
    seen: dict[int, tuple[int, tuple[str, ...]]] = {}
    nodes: list[dict[str, Any]] = []
    for number, node in enumerate(trace["nodes"]):
        name = _short(node["op"])
        values = [_value(value) for value in node["values"]]
        if name in _COPIES or name == "copy_":
            source = node["args"]["src" if name == "copy_" else "self" if "self" in node["args"] else "a"]["node"]
            target, casts = seen[source]
            dtype = values[0][0]
            seen[number] = (target, casts if _dtype_of(nodes, target, casts) == dtype else (*casts, dtype))
            if name != "copy_" or values[0][1] == nodes[target]["values"][0][1]:
                continue
        args = {key: _renumber(value, seen) for key, value in node["args"].items()}
        if name.endswith("_") and name != "copy_":
            # In place on a tensor of its own: later uses of the operand mean the result.
            name = name.rstrip("_")
            seen[node["args"]["self"]["node"]] = (len(nodes), ())
        if name in _RESHAPES:
            name, args = "reshape", {"self": args["self"]}
        elif name == "copy_":
            name, args = "expand", {"self": args["src"]}
        seen[number] = (len(nodes), ())
        nodes.append({"op": name, "args": args, "values": values, "target": node["op"]})
    outputs = [_renumber(output, seen) for output in trace["outputs"]]
    return {"nodes": nodes, "outputs": outputs, "scalars": trace["scalars"]}


def _short(op: str) -> str:
    """`aten.add.Tensor` is `add`; overloads differ in nothing that their arguments do not tell."""
    parts = op.split(".")
    return parts[1] if parts[0] in ("aten", "prims") and len(parts) > 1 else op


def _value(value: dict[str, Any]) -> tuple[str, tuple[int, ...]]:
    dtype, dims = value["dtype"], tuple(value["dims"])
    if dtype not in DTYPES:
        raise NotLowerable(f"dtype {str(dtype)[:40]}", "the rules know " + ", ".join(DTYPES))
    if len(dims) > _MAX_RANK or not all(type(d) is int and 0 <= d < _MAX_INT for d in dims):
        raise Malformed(f"sizes {str(dims)[:80]} are out of bounds")
    if 0 in dims:
        raise NotLowerable("an empty tensor", "a case has a dimension of size 0")
    return dtype, dims


def _dtype_of(nodes: list[dict[str, Any]], node: int, casts: tuple[str, ...]) -> str:
    return str(casts[-1] if casts else nodes[node]["values"][0][0])


def _renumber(value: Any, seen: dict[int, tuple[int, tuple[str, ...]]]) -> Any:
    if isinstance(value, list):
        return [_renumber(item, seen) for item in value]
    if isinstance(value, dict):
        if "node" in value:
            target, casts = seen[value["node"]]
            return Ref(target, (casts,))
        if "float" in value:
            return float(value["float"])
        return str(value.get("dtype") or value.get("other"))
    if type(value) is int and abs(value) >= _MAX_INT:
        # `slice` spells "to the end" as the greatest int64.
        return _MAX_INT if value > 0 else -_MAX_INT
    return value


def _unify(traces: list[dict[str, Any]]) -> Graph:
    first = traces[0]
    for trace in traces[1:]:
        names = [[node["op"] for node in t["nodes"]] for t in (first, trace)]
        if names[0] != names[1]:
            odd = next((b for a, b in zip(*names, strict=False) if a != b), "the graph")
            raise NotLowerable(odd, "the cases trace to graphs of different operators")
    nodes = []
    for versions in zip(*(trace["nodes"] for trace in traces), strict=True):
        args = {key: _merge([v["args"][key] for v in versions]) for key in versions[0]["args"]}
        values = [v["values"][0] if v["values"] else ("bool", ()) for v in versions]
        if len({len(dims) for _, dims in values}) > 1:
            raise NotLowerable(versions[0]["op"], "its rank differs between the cases")
        dims = tuple(zip(*(dims for _, dims in values), strict=True))
        dtypes = tuple(dtype for dtype, _ in values)
        nodes.append(Node(versions[0]["op"], args, dims, dtypes, versions[0]["target"]))
    outputs = [_merge(list(refs)) for refs in zip(*(trace["outputs"] for trace in traces), strict=True)]
    scalars = [_merge(list(values)) for values in zip(*(trace["scalars"] for trace in traces), strict=True)]
    if not all(isinstance(output, Ref) for output in outputs):
        raise NotLowerable("the output", "it is not a tensor or a tuple of tensors")
    inputs = [number for number, node in enumerate(nodes) if node.op == "input"]
    return Graph(nodes, outputs, scalars, len(traces), inputs)


def _merge(values: list[Any]) -> Any:
    """The one argument that stands for the arguments of all cases."""
    first = values[0]
    if isinstance(first, Ref):
        if any(not isinstance(v, Ref) or v.node != first.node for v in values):
            raise NotLowerable("the graph", "the cases are wired differently")
        return Ref(first.node, tuple(v.casts[0] for v in values))
    if isinstance(first, list):
        if len({len(v) for v in values}) > 1:
            raise NotLowerable("the graph", "the cases have argument lists of different lengths")
        return [_merge(list(items)) for items in zip(*values, strict=True)]
    if all(type(v) is type(first) and v == first for v in values):
        return first
    if all(type(v) is int for v in values):
        return tuple(values)
    if all(type(v) in (int, float, bool) for v in values):
        return Varying(tuple(values))
    if all(isinstance(v, str) or v is None for v in values):
        # A dtype: each value's own dtype is known from its node.
        return None
    raise NotLowerable("the graph", "an argument differs in kind between the cases")
