"""Kernels and the functions that they call, made ready for Python: each means what Triton's compiler makes of it.

Where Python and Triton differ, the text is rewritten: an assignment makes a tensor of a number; `and`, `or` and `not`
work on blocks; loops over `range` count in tensors and are watched; `assert` is the device's.
"""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

from kernelvault.replay.triton import waiting

_HELPERS = {ast.And: "_kv_and", ast.Or: "_kv_or"}


class Function:
    """A function of the device. `names` gives the helpers that rewritten text calls, `translate` its globals."""

    def __init__(
        self,
        function: FunctionType,
        names: Mapping[str, Any],
        translate: Callable[[Any], Any],
        builtins: Mapping[str, Any],
    ) -> None:
        self.fn = function
        self.__name__ = function.__name__
        self.module = function.__module__
        self._names = names
        self._translate = translate
        self._builtins = builtins
        self._made: Callable[..., Any] | None = None
        self.branches = False

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        made = self._made or self._make()
        return made(*arguments, **options)

    def prepare(self) -> None:
        """Does now what else the first call does."""
        if self._made is None:
            self._make()

    def refresh(self) -> None:
        """Takes the globals anew: a script may have changed them between launches."""
        self._made = None

    def _make(self) -> Callable[..., Any]:
        tree = _parsed(self.fn)
        self.branches = any(isinstance(node, ast.If | ast.IfExp | ast.While) for node in ast.walk(tree))
        code = compile(_rewritten(tree), self.fn.__code__.co_filename, "exec", dont_inherit=True)
        names = {**self.fn.__globals__, **_closure(self.fn)}
        for name in set(_names_of(tree)) & names.keys():
            names[name] = self._translate(names[name])
        names.update(self._names)
        names["__builtins__"] = dict(self._builtins)
        exec(code, names)
        made = names[self.fn.__name__]
        made.__defaults__ = tuple(self._translate(value) for value in self.fn.__defaults__ or ()) or None
        made.__kwdefaults__ = self.fn.__kwdefaults__
        self._made = made
        return made


def _closure(function: FunctionType) -> dict[str, Any]:
    names, cells = function.__code__.co_freevars, function.__closure__ or ()
    return {name: cell.cell_contents for name, cell in zip(names, cells, strict=True)}


def _parsed(function: FunctionType) -> ast.Module:
    """The `def` without decorators and annotations, at its lines in its file; raises OSError without a text."""
    lines, first = inspect.getsourcelines(function)
    tree = ast.parse(textwrap.dedent("".join(lines)))
    node = tree.body[0]
    assert isinstance(node, ast.FunctionDef)
    node.decorator_list, node.returns = [], None
    node.args.defaults = [ast.copy_location(ast.Constant(None), default) for default in node.args.defaults]
    for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
        argument.annotation = None
    ast.increment_lineno(tree, first - 1)
    return tree


def _names_of(tree: ast.Module) -> list[str]:
    return [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]


def _rewritten(tree: ast.Module) -> ast.Module:
    changed = _Rewriter().visit(tree)
    assert isinstance(changed, ast.Module)
    return ast.fix_missing_locations(changed)


class _Rewriter(ast.NodeTransformer):
    """See the module."""

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """`x = value`: numbers become tensors."""
        self.generic_visit(node)
        node.value = _call("_kv_assigned", node.value)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """`a and b`: blocks are combined lane by lane."""
        self.generic_visit(node)
        first, *rest = node.values
        for value in rest:
            later = ast.Lambda(ast.arguments([], [], None, [], [], None, []), value)
            first = _call(_HELPERS[type(node.op)], first, ast.copy_location(later, value))
        return first

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """`not a`: of a block, lane by lane."""
        self.generic_visit(node)
        return _call("_kv_not", node.operand) if isinstance(node.op, ast.Not) else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """`BLOCK.value`: constants stand for themselves here."""
        self.generic_visit(node)
        return _call("_kv_value", node.value) if node.attr == "value" and isinstance(node.ctx, ast.Load) else node

    def visit_While(self, node: ast.While) -> ast.AST:
        """A loop that waits for another program is counted: it would wait for ever."""
        counted = waiting.waits(node)
        self.generic_visit(node)
        if counted:
            call = ast.Call(ast.Name("_kv_waited", ast.Load()), [], [])
            node.body.insert(0, ast.copy_location(ast.Expr(call), node))
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        """`assert x, message`: the device's."""
        self.generic_visit(node)
        call = _call("_kv_assert", node.test, *([node.msg] if node.msg else []))
        return ast.copy_location(ast.Expr(call), node)


def _call(name: str, first: ast.expr, *others: ast.expr) -> ast.Call:
    function = ast.copy_location(ast.Name(name, ast.Load()), first)
    return ast.copy_location(ast.Call(function, [first, *others], []), first)


@functools.cache
def parameters(function: FunctionType) -> tuple[str, ...]:
    """The names of a function's parameters."""
    return tuple(inspect.signature(function).parameters)
