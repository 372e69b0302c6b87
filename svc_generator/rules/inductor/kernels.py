"""Inductor's kernels as syntax trees, without what only Inductor needs."""

from __future__ import annotations

import ast
import dataclasses
import functools
import re
from collections.abc import Callable

from svc_generator.rules.graph import NotLowerable
from svc_generator.rules.inductor import casts

_SHORT = {
    "r0_numel": "rnumel",
    "r0_offset": "roffset",
    "r0_index": "rindex",
    "r0_mask": "rmask",
    "r0_base": "rbase",
    "R0_BLOCK": "RBLOCK",
}
_TEMPORARY = re.compile(r"_?tmp\d+")
# What Inductor is told of the block for a row of symbolic length; no real one is as large.
UNKNOWN_BLOCK = 1 << 20
_FLOAT = re.compile(r"zf\d+")


@dataclasses.dataclass
class Kernel:
    """A kernel and what its launch has to know."""

    function: ast.FunctionDef
    # `pointwise`, `reduction`, `persistent_reduction`.
    kind: str
    # Inductor's name of how the grid comes from the sizes.
    grid: str
    # `INNER`, `OUTER`, `DEFAULT`...
    hint: str
    dots: bool
    # By name, as Triton spells them: `*fp16`.
    signature: dict[str, str]
    # Functions that the kernel combines values with, and those of `triton_helpers`.
    combines: dict[str, ast.FunctionDef]
    helpers: set[str]
    # Inductor's names of floating-point numbers: parameters, the last before the blocks, that its launches leave out.
    floats: list[str]

    @property
    def parameters(self) -> list[str]:
        """All parameters in order, blocks last."""
        return [argument.arg for argument in self.function.args.args]

    @property
    def blocks(self) -> list[str]:
        return [name for name in self.parameters if name.endswith("BLOCK")]


def parse(source: str) -> Kernel:
    """A kernel of Inductor's source; raises NotLowerable for a kind that needs more than a launch."""
    functions = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    main = functions[-1]
    decorator = main.decorator_list[0]
    assert isinstance(decorator, ast.Call)
    assert isinstance(decorator.func, ast.Attribute)
    kind = decorator.func.attr
    if kind not in ("pointwise", "reduction", "persistent_reduction"):
        raise NotLowerable(kind.replace("_", " "), "Inductor's kernel needs more than one launch")
    given = {keyword.arg: keyword.value for keyword in decorator.keywords}
    meta = _items(given["triton_meta"])
    hint = given.get("reduction_hint")
    combines = {function.name: _bare(function) for function in functions[:-1]}
    finder = _Helpers()
    main = finder.visit(main)
    combines = {name: finder.visit(function) for name, function in combines.items()}
    dots = any(isinstance(node, ast.Attribute) and node.attr == "dot" for node in ast.walk(main))
    signature = {_SHORT.get(k, k): ast.literal_eval(v) for k, v in _items(meta["signature"]).items()}
    floats = _take_floats(main)
    signature |= dict.fromkeys(floats, "fp32")
    grid = ast.literal_eval(_items(given["inductor_meta"])["grid_type"])
    return Kernel(
        function=_clean(main, signature),
        kind=kind,
        grid=grid,
        hint=hint.attr if isinstance(hint, ast.Attribute) else "",
        dots=dots,
        signature=signature,
        combines=combines,
        helpers=finder.used,
        floats=floats,
    )


def _take_floats(function: ast.FunctionDef) -> list[str]:
    """Makes parameters of the numbers that the kernel has from nowhere."""
    used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and _FLOAT.fullmatch(node.id)}
    found = sorted(used - {argument.arg for argument in function.args.args})
    count = sum(not argument.arg.endswith("BLOCK") for argument in function.args.args)
    function.args.args[count:count] = [ast.arg(name) for name in found]
    return found


def _items(node: ast.expr) -> dict[str, ast.expr]:
    """A literal dictionary by its keys."""
    assert isinstance(node, ast.Dict)
    return {str(key.value): v for key, v in zip(node.keys, node.values, strict=True) if isinstance(key, ast.Constant)}


def _bare(function: ast.FunctionDef) -> ast.FunctionDef:
    function.decorator_list = []
    return function


class _Helpers(ast.NodeTransformer):
    """Calls helpers by their bare names, and loops without the pipelining that was meant for another GPU."""

    def __init__(self) -> None:
        self.used: set[str] = set()

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """`triton_helpers.f` is `f`; `tl_math.f` is `tl.math.f`."""
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id == "triton_helpers":
            self.used.add(node.attr)
            return ast.Name(node.attr, ast.Load())
        if isinstance(node.value, ast.Name) and node.value.id == "tl_math":
            node.value = ast.Attribute(ast.Name("tl", ast.Load()), "math", ast.Load())
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """`tl.range` with stages is `range`."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "range":
            return ast.Call(ast.Name("range", ast.Load()), node.args, [])
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """`[:]` of a vector is the vector."""
        self.generic_visit(node)
        index = node.slice
        plain = isinstance(index, ast.Slice) and index.lower is index.upper is index.step is None
        return node.value if plain else node


class _Rename(ast.NodeTransformer):
    """Gives names and parameters other names."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        """A use or a definition."""
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        """A parameter."""
        node.arg = self.names.get(node.arg, node.arg)
        return node


def rename(function: ast.FunctionDef, names: dict[str, str]) -> None:
    """Renames in place, all names at once."""
    _Rename(names).visit(function)


def _clean(function: ast.FunctionDef, signature: dict[str, str]) -> ast.FunctionDef:
    """Short names for the only reduction, no definitions that nothing uses, temporaries counted from 0."""
    _bare(function)
    if not any("r1_" in argument.arg for argument in function.args.args):
        aliases = {"rnumel": "r0_numel", "roffset": "r0_offset", "rindex": "r0_index", "RBLOCK": "R0_BLOCK"}
        rename(function, aliases | {"rbase": "r0_base"})
        rename(function, _SHORT)
    _Statements(_is_alias).visit(function)
    _Statements(functools.partial(_fixes_block, function=function)).visit(function)
    casts.simplify(function, signature)
    while unused := _unused(function):
        _Statements(functools.partial(_defines, names=unused)).visit(function)
    seen: dict[str, str] = {}
    for name in _in_order(function):
        if _TEMPORARY.fullmatch(name):
            prefix = "accumulator" if name.startswith("_") else "tmp"
            seen.setdefault(name, f"{prefix}{sum(new.startswith(prefix) for new in seen.values())}")
    rename(function, seen)
    return function


def _in_order(function: ast.FunctionDef) -> list[str]:
    """Names in the order of their definitions."""
    names = [node for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    return [node.id for node in sorted(names, key=lambda node: (node.lineno, node.col_offset))]


class _Statements(ast.NodeTransformer):
    """Takes statements out."""

    def __init__(self, condition: Callable[[ast.stmt], bool]) -> None:
        self.condition = condition

    def visit(self, node: ast.AST) -> ast.AST | None:
        """None for a statement that meets the condition."""
        if isinstance(node, ast.stmt) and self.condition(node):
            return None
        return self.generic_visit(node)


def _fixes_block(node: ast.stmt, function: ast.FunctionDef) -> bool:
    """A row of unknown length in one block: the block becomes a parameter."""
    if not isinstance(node, ast.AnnAssign) or ast.unparse(node).split(" = ")[-1] != str(UNKNOWN_BLOCK):
        return False
    assert isinstance(node.target, ast.Name)
    function.args.args.append(ast.arg(node.target.id, ast.parse("tl.constexpr", mode="eval").body))
    return True


def _is_alias(node: ast.stmt) -> bool:
    """`x = x` after names became one."""
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    value = getattr(node, "value", None)
    return isinstance(target, ast.Name) and isinstance(value, ast.Name) and target.id == value.id


def _defines(node: ast.stmt, names: set[str]) -> bool:
    return isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in names


def _unused(function: ast.FunctionDef) -> set[str]:
    names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
    loaded = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    assigned = {
        node.targets[0].id
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    return assigned - loaded
