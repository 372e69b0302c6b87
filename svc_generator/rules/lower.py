"""Lowers a graph for the cases of one launcher."""

from __future__ import annotations

from collections.abc import Sequence

from svc_generator.rules import lower_contractions, lower_pointwise, lower_reductions, lower_views
from svc_generator.rules.graph import Graph, Node, NotLowerable
from svc_generator.rules.lowering import Lowering, Rule
from svc_generator.rules.program import Program, Tensor

_RULES: dict[str, Rule] = {**lower_views.RULES, **lower_reductions.RULES, **lower_contractions.RULES}


def lower(graph: Graph, cases: Sequence[int]) -> Program:
    """The program for `cases`, which call one launcher; to be called within `expr.fresh()`.

    Raises NotLowerable with the operator that has no rule.
    """
    low = Lowering(graph, cases, Program(graph.case_count))
    live = _live(graph)
    for number, node in enumerate(graph.nodes):
        if node.op == "input":
            low.values[number] = low.program.input(node.dims, low.dtype(node))
        elif number in live:
            low.values[number] = _lower_node(low, node)
    for output in graph.outputs:
        low.program.output(low.tensor(output))
    return low.program


def _live(graph: Graph) -> set[int]:
    """Nodes that an output needs."""
    live: set[int] = set()
    stack = [ref.node for ref in graph.outputs]
    while stack:
        number = stack.pop()
        if number not in live:
            live.add(number)
            stack += _operands(list(graph.nodes[number].args.values()))
    return live


def _operands(values: Sequence[object]) -> list[int]:
    found: list[int] = []
    for value in values:
        if isinstance(value, list):
            found += _operands(value)
        elif hasattr(value, "node"):
            found.append(value.node)
    return found


def _lower_node(low: Lowering, node: Node) -> Tensor:
    if node.op == "getitem":
        if node.args["1"] != 0:
            raise NotLowerable(low.graph.nodes[node.args["0"].node].op, f"its result number {node.args['1']} is used")
        return low.tensor(node.args["0"])
    if node.op in lower_pointwise.RULES:
        return low.pointwise(node, lower_pointwise.RULES[node.op])
    if node.op not in _RULES:
        what = "a tensor that the module makes itself" if node.op == "constant" else node.op
        raise NotLowerable(what, "there is no rule for it")
    return _RULES[node.op](low, node)
