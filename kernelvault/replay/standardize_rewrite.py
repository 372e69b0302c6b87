"""Puts `module_fn` into a module's source, and makes `Model.forward` call it; all else stays as its author wrote it."""

from __future__ import annotations

import ast
import inspect

import torch

from kernelvault.replay import reference_faults as faults
from kernelvault.replay.reference_draw import Call, is_number
from kernelvault.replay.standardize_emit import identifier


def rewrite(source: str, function: str, call: Call) -> str:
    """The file with `module_fn` before `class Model`, and a new `forward` in it; raises NotTraceable."""
    tree = ast.parse(source)
    model = next((node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Model"), None)
    if model is None:
        raise faults.NotTraceable("Model is not defined by a class statement of the module itself")
    lines = source.splitlines()
    methods = {node.name: node for node in model.body if isinstance(node, ast.FunctionDef)}
    edits = [_forward_edit(model, methods.get("forward"), call)]
    kept = _kept_numbers(call)
    if kept:
        edits.append(_init_edit(methods.get("__init__"), kept))
    start = min([model.lineno, *(decorator.lineno for decorator in model.decorator_list)]) - 1
    edits.append((start, start, [*function.splitlines(), "", ""]))
    edits.append(_import_edit(tree, function))
    for first, last, new in sorted(edits, reverse=True):
        lines[first:last] = new
    return "\n".join(lines) + "\n"


def _forward_edit(model: ast.ClassDef, forward: ast.FunctionDef | None, call: Call) -> tuple[int, int, list[str]]:
    """First line, line after the last, new lines."""
    body_indent = " " * model.body[0].col_offset
    signature = inspect.signature(type(call.model).forward)
    parameters = list(signature.parameters.values())[1:]
    if forward is not None:
        head = ast.unparse(forward.args)
    else:
        head = ", ".join(["self", *(p.name if p.default is p.empty else f"{p.name}={p.default!r}" for p in parameters)])
    values = _values(call)
    new = [
        f"{body_indent}def forward({head}, fn=module_fn):",
        f"{body_indent}    return fn({', '.join(values)})",
    ]
    if forward is None:
        end = model.end_lineno or model.lineno
        return end, end, ["", *new]
    first = min([forward.lineno, *(decorator.lineno for decorator in forward.decorator_list)]) - 1
    return first, forward.end_lineno or forward.lineno, new


def _values(call: Call) -> list[str]:
    """What forward hands to fn, in the order of a candidate's call signature."""
    inputs = [name for name, value in call.arguments if isinstance(value, torch.Tensor)]
    state = [_path(name) for name, _ in call.state()]
    numbers = [name for name, value in call.arguments if is_number(value)]
    return [*inputs, *state, *numbers, *(f"self.fn_{identifier(name)}" for name, _ in call.init_numbers)]


def _path(name: str) -> str:
    """`layers.0.weight` as Python writes it: `self.layers[0].weight`."""
    return "self" + "".join(f"[{part}]" if part.isdigit() else f".{part}" for part in name.split("."))


def _kept_numbers(call: Call) -> list[str]:
    return [name for name, _ in call.init_numbers]


def _init_edit(init: ast.FunctionDef | None, kept: list[str]) -> tuple[int, int, list[str]]:
    """Keeps the numbers of get_init_inputs as attributes, before all that __init__ does."""
    if init is None:
        raise faults.NotTraceable("Model.__init__ is inherited; define it, so that fn gets the numbers it is made with")
    known = {argument.arg for argument in [*init.args.posonlyargs, *init.args.args, *init.args.kwonlyargs]}
    for name in kept:
        if name not in known:
            raise faults.NotTraceable(f"Model.__init__ does not name its argument {name!r}")
    first = init.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(init.body) > 1
    line = (init.body[1] if documented else first).lineno - 1
    indent = " " * first.col_offset
    return line, line, [f"{indent}self.fn_{identifier(name)} = {name}" for name in kept]


def _import_edit(tree: ast.Module, function: str) -> tuple[int, int, list[str]]:
    """Imports that `module_fn` needs and the module has not under these names, after its own."""
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    known = {alias.asname or alias.name for node in imports for alias in node.names}
    wanted = {"math": "import math", "torch": "import torch", "F": "import torch.nn.functional as F"}
    missing = [text for name, text in wanted.items() if name not in known and f"{name}." in function]
    line = max((node.end_lineno or node.lineno for node in imports), default=0)
    return line, line, missing
