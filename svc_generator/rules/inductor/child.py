"""Lowers a request inside the sandbox: no foreign code runs here, but generators of code do, on foreign graphs."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from svc_generator.rules.graph import NotLowerable
from svc_generator.rules.inductor import device, variants, wrapper
from svc_generator.rules.inductor.lower import Lowered, broken, lower
from svc_generator.rules.inductor.module import Group, Signature, render
from svc_generator.rules.inductor.names import Names
from svc_generator.rules.inductor.rebuild import Rebuilt, rebuild
from svc_generator.rules.inductor.variants import Variant
from svc_generator.rules.inductor.wrapper import Allocation

RESULT = "module.json"
_MOST_HINTS = 3


def main(payload: bytes, _descriptors: dict[str, int]) -> int:
    """Entry of the sandboxed job: writes the module's text, or what stands in its way, into the working folder."""
    device.pretend()
    try:
        result = {"source": export(json.loads(payload))}
    except NotLowerable as error:
        result = {"operator": error.operator, "message": str(error)}
    except Exception as error:
        print(f"{type(error).__name__}: {error}"[:2000], file=sys.stderr)
        result = {"operator": "the graph", "message": f"{type(error).__name__}: {error}"[:500]}
    Path(RESULT).write_text(json.dumps(result))
    return 0


def export(request: Mapping[str, Any]) -> str:
    """The module's text; raises NotLowerable."""
    graph = request["graph"]
    names = Names(request["tensors"], request["scalars"], graph["definitions"])
    variant = next(variant for variant in variants.LADDER if variant.name == request["variant"])
    groups = []
    for cases in request["groups"]:
        rebuilt, lowered = _lower(graph, cases[0], variant)
        inputs = [names.symbols[name] for name in rebuilt.scalars] + names.tensors
        groups.append(Group(_dtypes(graph, cases[0]), wrapper.read(lowered.text, inputs)))
    signature = Signature(
        names=names,
        parameters=[*names.tensors, *names.scalars],
        shapes=[[_spell(dim, names) for dim in dims] for dims in graph["inputs"]],
        sequence=request["sequence"],
        title=request["title"],
    )
    return render(groups, signature, variant, _Dense(graph, names))


def _lower(graph: dict[str, Any], case: int, variant: Variant) -> tuple[Rebuilt, Lowered]:
    """Code for the dtypes of `case` that is right for the sizes of all cases."""
    for hint in _hints(graph)[:_MOST_HINTS]:
        rebuilt = rebuild(graph, case, hint)
        lowered = lower(rebuilt, graph["symbols"], variant.longest if variant.persistent else 0)
        if not (why := broken(lowered, rebuilt, graph)):
            return rebuilt, lowered
    raise NotLowerable("the graph", f"the cases want different code: {why}")


def _hints(graph: dict[str, Any]) -> list[int]:
    """Cases by how much their sizes tell: none is 1, and as many as possible differ."""
    per_case = list(zip(*graph["symbols"].values(), strict=True)) or [()]
    order = sorted(range(len(per_case)), key=lambda c: (min(per_case[c], default=2) > 1, len(set(per_case[c])), -c))
    return order[::-1]


def _dtypes(graph: dict[str, Any], case: int) -> list[str]:
    return [node["dtypes"][case] for node in graph["nodes"] if node["op"] == "input"]


def _spell(dim: Any, names: Names) -> str:
    """A size of the request in Python."""
    if not isinstance(dim, dict):
        return str(dim)
    tree = ast.parse(dim["expression"], mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = names.symbols.get(node.id, node.id)
    return ast.unparse(tree)


class _Dense:
    """Tells whether an allocation is contiguous in every case."""

    def __init__(self, graph: dict[str, Any], names: Names) -> None:
        symbols = {names.symbols[name]: values for name, values in graph["symbols"].items()}
        count = len(graph["nodes"][0]["dtypes"])
        self.cases = [{name: values[case] for name, values in symbols.items()} for case in range(count)]

    def __call__(self, step: Allocation) -> bool:
        """By value."""
        try:
            return all(self._in_case(step, case) for case in self.cases)
        except NameError:
            return False

    @staticmethod
    def _in_case(step: Allocation, case: dict[str, int]) -> bool:
        names: dict[str, Any] = {"max": max, "min": min, "__builtins__": {}} | case
        sizes, strides = ([eval(ast.unparse(item), names) for item in items] for items in (step.sizes, step.strides))
        expected = 1
        for size, stride in zip(reversed(sizes), reversed(strides), strict=True):
            if size != 1 and stride != expected:
                return False
            expected *= size
        return True
