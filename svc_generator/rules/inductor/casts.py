"""Conversions in kernels: fewer of them, and in the form that all sizes and dtypes have in common."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Mapping

# Functions that only rearrange, and which of their operands.
_REARRANGED = {"tl.reshape": 0, "tl.trans": 0, "tl.broadcast_to": 0, "tl.where": 1}
_NARROW = {"*fp16": "float16", "*bf16": "bfloat16"}


def simplify(function: ast.FunctionDef, signature: Mapping[str, str]) -> None:
    """Changes a kernel in place; `signature` is Triton's, by parameter."""
    _Casts({argument.arg for argument in function.args.args if argument.annotation is None}).visit(function)
    _inline(function)
    _drop_casts(function)
    _keep_narrow(function, signature)
    _inline(function)


class _Casts(ast.NodeTransformer):
    """Converts sizes by `tl.cast`: one that is 1 is a constant to Triton, and has no methods."""

    def __init__(self, parameters: set[str]) -> None:
        self.parameters = parameters

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """`(2 * size).to(tl.float32)` and its like."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "to" and len(node.args) == 1:
            names = {part.id for part in ast.walk(node.func.value) if isinstance(part, ast.Name)}
            if names and names <= self.parameters:
                return ast.Call(ast.parse("tl.cast", mode="eval").body, [node.func.value, *node.args], [])
        return node


def _inline(function: ast.FunctionDef) -> None:
    """`tmp2 = tmp1.to(tl.float32)` goes to where tmp2 is used, as does `tmp2 = tmp1`: so dtypes' kernels look alike."""
    stores = Counter(
        node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    values: dict[str, ast.expr] = {}

    class Inline(ast.NodeTransformer):
        def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
            node.value = self.visit(node.value)
            target, source = node.targets[0], node.value
            while (inner := cast_of(source)) is not None:
                source = inner
            if isinstance(target, ast.Name) and isinstance(source, ast.Name):
                once = stores[target.id] == 1 and stores[source.id] == 1
                if once:
                    values[target.id] = node.value
                    return None
            return node

        def visit_Name(self, node: ast.Name) -> ast.expr:
            value = values.get(node.id) if isinstance(node.ctx, ast.Load) else None
            return node if value is None else copy.deepcopy(value)

    Inline().visit(function)


def _drop_casts(function: ast.FunctionDef) -> None:
    """What is float32 already needs no conversion to it."""
    values: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            values.setdefault(node.targets[0].id, []).append(node.value)
    wide = {name for name, given in values.items() if all(_is_wide(value) for value in given)}

    class Drop(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> ast.expr:
            self.generic_visit(node)
            source = cast_of(node)
            if source is None or not _is_wide(node):
                return node
            known = _is_wide(source) or (isinstance(source, ast.Name) and source.id in wide)
            return source if known else node

    Drop().visit(function)


def _is_wide(node: ast.expr) -> bool:
    return cast_of(node) is not None and ast.unparse(node).endswith(".to(tl.float32)")


def _keep_narrow(function: ast.FunctionDef, signature: Mapping[str, str]) -> None:
    """Leaves as it is loaded what goes from float16 to float32 and back: an operand of a product.

    Where it was loaded as 0 beyond a mask, it needs no `tl.where` to be 0 there.
    """
    loads = {
        node.targets[0].id: node
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and _load_of(node.value) is not None
    }
    uses = Counter(
        node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    )
    narrow = Counter(
        (source.id, _dtype_of(node))
        for node in ast.walk(function)
        if isinstance(source := cast_of(node), ast.Name) and source.id in loads
    )
    for (name, dtype), count in narrow.items():
        load = _load_of(loads[name].value)
        assert load is not None
        pointers = {_NARROW.get(signature.get(part.id, "")) for part in ast.walk(load) if isinstance(part, ast.Name)}
        if count == uses[name] and dtype in pointers and load is not loads[name].value:
            loads[name].value = load
            _Uncast(name).visit(function)
    _narrow_products(function, signature)
    _Unmask({name: load for name, node in loads.items() if (load := _load_of(node.value)) is not None}).visit(function)


def _narrow_products(function: ast.FunctionDef, signature: Mapping[str, str]) -> None:
    """Multiplies float16 as it is loaded where both operands were only converted: products are exact in float32."""
    values = {
        node.targets[0].id: node
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    uses = Counter(
        node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    )

    def origin(value: ast.expr) -> ast.Assign | None:
        """The conversion of a load that an operand is a rearrangement of."""
        if isinstance(value, ast.Name):
            node = values.get(value.id)
            if node is None or uses[value.id] != 1:
                return None
            converted = cast_of(node.value) is not None and _load_of(node.value) is not None
            return node if converted else origin(node.value)
        if isinstance(value, ast.Call) and ast.unparse(value.func) in _REARRANGED:
            return origin(value.args[_REARRANGED[ast.unparse(value.func)]])
        return None

    for node in ast.walk(function):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "tl.dot":
            found = [loaded for operand in node.args[:2] if (loaded := origin(operand)) is not None]
            loads = [load for loaded in found if (load := _load_of(loaded.value)) is not None]
            types = {
                signature.get(part.id, "") for load in loads for part in ast.walk(load) if isinstance(part, ast.Name)
            }
            if len(loads) == 2 and len({type_ for type_ in types if type_.startswith("*")} - set(_NARROW)) == 0:
                for loaded, load in zip(found, loads, strict=True):
                    loaded.value = load


def _load_of(value: ast.expr) -> ast.Call | None:
    """The `tl.load` that a value is, or is converted from."""
    inner = cast_of(value) or value
    return inner if isinstance(inner, ast.Call) and ast.unparse(inner.func) == "tl.load" else None


def _dtype_of(cast: ast.AST) -> str:
    assert isinstance(cast, ast.Call)
    assert isinstance(cast.args[0], ast.Attribute)
    return cast.args[0].attr


class _Uncast(ast.NodeTransformer):
    """Takes the conversions of one name away."""

    def __init__(self, name: str) -> None:
        self.name = name

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """`name.to(...)` is `name`."""
        self.generic_visit(node)
        source = cast_of(node)
        return source if isinstance(source, ast.Name) and source.id == self.name else node


class _Unmask(ast.NodeTransformer):
    """Takes `tl.where(mask, loaded, 0)` away where `loaded` is 0 beyond the mask."""

    def __init__(self, loads: Mapping[str, ast.Call]) -> None:
        self.loads = loads

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """The operand alone."""
        self.generic_visit(node)
        if ast.unparse(node.func) != "tl.where" or len(node.args) != 3 or ast.unparse(node.args[2]) != "0":
            return node
        mask, value, _ = node.args
        load = self.loads.get(value.id) if isinstance(value, ast.Name) else None
        if load is None or len(load.args) < 2:
            return node
        other = {keyword.arg: ast.unparse(keyword.value) for keyword in load.keywords}.get("other")
        masks = ast.unparse(load.args[1]).split(" & ")
        return value if other == "0.0" and ast.unparse(mask) in masks else node


def cast_of(node: ast.AST) -> ast.expr | None:
    """What `x.to(tl.float32)` converts, or None if the node is no conversion to a floating-point type."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "to"):
        return None
    dtype = node.args[0] if len(node.args) == 1 and not node.keywords else None
    if isinstance(dtype, ast.Attribute) and dtype.attr in ("float16", "bfloat16", "float32"):
        return node.func.value
    return None
