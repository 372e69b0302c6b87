"""The functions of Inductor's `triton_helpers` that a kernel calls, as source."""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import Any

from torch._inductor.runtime import triton_helpers

from svc_generator.rules.graph import NotLowerable

# Names that the module imports.
_IMPORTED = {"tl": "tl", "triton": "triton", "libdevice": "libdevice", "math": "tl.math", "tl_math": "tl.math"}


def collect(names: set[str]) -> dict[str, ast.FunctionDef]:
    """The named functions and those that they call, callees first; raises NotLowerable for one that has no source."""
    found: dict[str, ast.FunctionDef] = {}
    for name in sorted(names):
        _visit(name, found)
    return found


def _visit(name: str, found: dict[str, ast.FunctionDef]) -> None:
    if name in found:
        return
    helper = getattr(triton_helpers, name, None)
    function = getattr(helper, "fn", None)
    if function is None:
        raise NotLowerable(f"triton_helpers.{name}", "it is no function that can stand alone")
    definition = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(definition, ast.FunctionDef)
    definition = _Plain(function.__globals__).visit(definition)
    for callee in sorted(_free(definition, function.__globals__)):
        _visit(callee, found)
    definition.decorator_list = []
    found[name] = definition


def _free(definition: ast.FunctionDef, names: dict[str, Any]) -> set[str]:
    """Global functions that the definition calls."""
    used = {node.id for node in ast.walk(definition) if isinstance(node, ast.Name)}
    return {name for name in used if hasattr(names.get(name), "fn") and name not in _IMPORTED and name != "tl"}


class _Plain(ast.NodeTransformer):
    """Puts values in the place of global constants, and drops comments in strings."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Constants by value, modules by the name that they are imported under."""
        value = self.names.get(node.id)
        value = getattr(value, "value", value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return ast.Constant(value)
        if node.id in ("math", "tl_math"):
            return ast.Attribute(ast.Name("tl", ast.Load()), "math", ast.Load())
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        """Docstrings tell of Inductor."""
        return None if isinstance(node.value, ast.Constant) else self.generic_visit(node)
