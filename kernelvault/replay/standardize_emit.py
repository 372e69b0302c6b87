"""Writes traced graphs as one readable Python function; inside the sandboxed child.

A number that is the same in every case is spelled out. One that differs between cases must be one of the numbers that a
candidate gets, or a simple expression of them; so that the function holds for all cases.
"""

from __future__ import annotations

import builtins
import keyword
import math
import operator
import re
from collections.abc import Sequence
from typing import Any

import torch
import torch.fx
import torch.nn.functional as F

from kernelvault.replay import reference_faults as faults
from kernelvault.replay.reference_draw import is_number
from kernelvault.replay.standardize_trace import Trace

_INFIX = {
    operator.add: "+",
    operator.sub: "-",
    operator.mul: "*",
    operator.truediv: "/",
    operator.floordiv: "//",
    operator.mod: "%",
    operator.pow: "**",
    operator.matmul: "@",
    operator.and_: "&",
    operator.or_: "|",
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
    operator.eq: "==",
    operator.ne: "!=",
}


def identifier(name: str) -> str:
    """A name for an argument: `norm.weight` gives `norm_weight`."""
    text = re.sub(r"\W", "_", name)
    return f"{text}_" if keyword.iskeyword(text) or text in ("torch", "F") or text[:1].isdigit() else text


class Emitter:
    """Writes `module_fn` for the traces of all cases."""

    def __init__(self, traces: Sequence[Trace]) -> None:
        """Raises NotTraceable where cases take different paths."""
        self._traces = traces
        self.arguments = [name for name, _ in traces[0].call.signature()]
        self._names = {name: identifier(name) for name in self.arguments}
        first = traces[0].call
        own = [*(name for name, value in first.arguments if isinstance(value, torch.Tensor))]
        own += [f"state {name}" for name, _ in first.state()]
        own += [name for name, value in first.arguments if is_number(value)]
        # Arguments of forward and parameters by their own names, which need not be unique among each other.
        self._own = dict(zip(own, self._names.values(), strict=False))
        self._taken = set(self._names.values())
        self._variables: dict[str, str] = {}
        self._candidates = _expressions(traces, self._names)
        for other in traces[1:]:
            _check_same_path(traces[0], other)

    def function(self) -> str:
        """The source of `module_fn`; raises NotTraceable for an operator that it cannot write."""
        lines = [self._statement(index) for index in range(len(self._traces[0].nodes))]
        body = "\n".join(f"    {line}" for line in lines if line)
        parameters = ", ".join(self._names[name] for name in self.arguments)
        return f"def module_fn({parameters}):\n{body}\n"

    def _statement(self, index: int) -> str:
        nodes = [trace.nodes[index] for trace in self._traces]
        node = nodes[0]
        if node.op == "placeholder":
            self._variables[node.name] = self._own.get(str(node.target), str(node.target))
            return ""
        if node.op == "get_attr":
            self._variables[node.name] = self._parameter(str(node.target))
            return ""
        if node.op == "output":
            return f"return {self._spell([n.args[0] for n in nodes], node)}"
        variable = self._variables[node.name] = self._fresh(node.name)
        return f"{variable} = {self._call(nodes)}"

    def _parameter(self, target: str) -> str:
        if f"state {target}" in self._own:
            return self._own[f"state {target}"]
        raise faults.NotTraceable(
            f"the tensor {target!r} is neither a parameter nor a buffer; register it with register_buffer"
        )

    def _fresh(self, name: str) -> str:
        fresh = identifier(name)
        while fresh in self._taken:
            fresh += "_"
        self._taken.add(fresh)
        return fresh

    def _call(self, nodes: list[torch.fx.Node]) -> str:
        node = nodes[0]
        args = [self._spell([n.args[i] for n in nodes], node) for i in range(len(node.args))]
        kwargs = [f"{key}={self._spell([n.kwargs[key] for n in nodes], node)}" for key in node.kwargs if key[:1] != "_"]
        if node.op == "call_method":
            return f"{args[0]}.{node.target}({', '.join([*args[1:], *kwargs])})"
        target: Any = node.target
        if target in _INFIX and len(args) == 2:
            return f"{args[0]} {_INFIX[target]} {args[1]}"
        if target is operator.getitem:
            return f"{args[0]}[{args[1]}]"
        if target is operator.neg:
            return f"-{args[0]}"
        if target is builtins.getattr:
            return f"{args[0]}.{node.args[1]}"
        return f"{_function_name(target, node)}({', '.join([*args, *kwargs])})"

    def _spell(self, values: list[Any], node: torch.fx.Node) -> str:
        """The expression for an argument, given its values in all cases."""
        first = values[0]
        if isinstance(first, torch.fx.Node):
            return self._variables[first.name]
        if isinstance(first, tuple | list) and all(type(v) is type(first) and len(v) == len(first) for v in values):
            parts = [self._spell([v[i] for v in values], node) for i in range(len(first))]
            if isinstance(first, list):
                return f"[{', '.join(parts)}]"
            return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
        if isinstance(first, slice):
            ends = ("start", "stop", "step")
            return f"slice({', '.join(self._spell([getattr(v, end) for v in values], node) for end in ends)})"
        if all(type(v) is type(first) and v == first for v in values):
            return _literal(first, node)
        for text, known in self._candidates:
            if all(type(k) is type(v) and k == v for k, v in zip(known, values, strict=True)):
                return text
        raise faults.NotTraceable(
            f"operator {node.format_node()}: the constant {first!r} differs between cases and is no expression of the "
            "numbers of get_inputs and get_init_inputs"
        )


def _expressions(traces: Sequence[Trace], names: dict[str, str]) -> list[tuple[str, list[Any]]]:
    """Simple expressions of the numbers that a candidate gets, and their value in each case."""
    signatures = [dict(trace.call.signature()) for trace in traces]
    plain = [
        (names[name], [signature[name] for signature in signatures])
        for name, value in signatures[0].items()
        if is_number(value) and all(name in signature for signature in signatures)
    ]
    found = list(plain)
    for text, values in plain:
        if all(type(v) in (int, float) and v > 0 for v in values):
            found += [(f"{text}**-0.5", [v**-0.5 for v in values]), (f"1 / {text}", [1 / v for v in values])]
            found += [(f"math.sqrt({text})", [math.sqrt(v) for v in values])]
            found += [(f"{text} // 2", [v // 2 for v in values]), (f"2 * {text}", [2 * v for v in values])]
    for one, ones in plain:
        for other, others in plain:
            pairs = list(zip(ones, others, strict=True))
            if all(type(a) is int and type(b) is int and b > 0 for a, b in pairs):
                found += [(f"{one} // {other}", [a // b for a, b in pairs])]
                found += [(f"{one} * {other}", [a * b for a, b in pairs])]
    for name, value in signatures[0].items():
        if isinstance(value, torch.Tensor):
            found.append((f"{names[name]}.dtype", [signature[name].dtype for signature in signatures]))
    return [(text if text.isidentifier() else f"({text})", values) for text, values in found]


def _check_same_path(one: Trace, other: Trace) -> None:
    shape = [(node.op, str(node.target), len(node.args), sorted(node.kwargs)) for node in one.nodes]
    if shape != [(node.op, str(node.target), len(node.args), sorted(node.kwargs)) for node in other.nodes]:
        raise faults.NotTraceable(f"cases {one.case_id} and {other.case_id} take different paths through the module")


def _function_name(target: Any, node: torch.fx.Node) -> str:
    name = getattr(target, "__name__", "")
    for prefix, namespace in (("F", F), ("torch", torch)):
        if getattr(namespace, name, None) is target:
            return f"{prefix}.{name}"
    for prefix, namespace in (("F", F), ("torch.linalg", torch.linalg), ("torch.special", torch.special)):
        for other, value in vars(namespace).items():
            if value is target and not other.startswith("_"):
                return f"{prefix}.{other}"
    raise faults.NotTraceable(f"operator {node.format_node()}: {name or target!r} is no public function of torch")


def _literal(value: Any, node: torch.fx.Node) -> str:
    if value is None or isinstance(value, bool | int | str | torch.dtype):
        return repr(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else f'float("{value}")'
    if isinstance(value, torch.device):
        return '"cpu"'
    if value is Ellipsis:
        return "..."
    raise faults.NotTraceable(f"operator {node.format_node()}: the constant {value!r} cannot be written down")
