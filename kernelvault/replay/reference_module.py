"""The task's module inside the sandboxed child: loaded under a fresh name, called with the arguments that it names."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import itertools
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from kernelvault.replay import reference_device
from kernelvault.replay import reference_faults as faults

_REMEDY = "define class Model(torch.nn.Module), get_inputs() and get_init_inputs()"
_numbers = itertools.count()
_MOST_ELEMENTS = 32


class Module:
    """A loaded module and the file that it came from."""

    def __init__(self, source: str, folder: Path, replaced: Mapping[str, int] | None = None) -> None:
        """Executes `source` on the CPU, with module-level integers replaced; raises Malformed or Unfit."""
        number = next(_numbers)
        self.source = source
        self.path = folder / f"reference_{number}.py"
        self._module = _execute(_replace(source, replaced or {}), self.path, f"kernelvault_reference_{number}")
        for name in ("Model", "get_inputs"):
            if not callable(getattr(self._module, name, None)):
                what = "class" if name == "Model" else "function"
                raise faults.Malformed(f"defines no {what} {name}; {_REMEDY}")

    @property
    def model_class(self) -> Any:
        """The class `Model`."""
        return self._module.Model

    def attribute(self, name: str) -> Any:
        """A global of the module, or None."""
        return getattr(self._module, name, None)

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Calls a function of the module with those of `arguments` that it takes; a missing function gives []."""
        function = self.attribute(name)
        if function is None:
            return []
        taken = {key: value for key, value in arguments.items() if key in names_taken(function, arguments)}
        return self.guard(f"{name}({_spell(taken)})", lambda: function(**taken))

    def guard(self, what: str, action: Callable[[], Any]) -> Any:
        """Runs the module's code; raises Unfit with the line where it fails."""
        try:
            return action()
        except faults.Unusable:
            raise
        except BaseException as error:
            raise faults.Unfit(f"{what} raised {faults.describe(error, str(self.path))}") from error

    def check_arguments(self, arguments: Mapping[str, Any], where: str) -> None:
        """Raises Malformed for an argument that neither get_inputs nor get_init_inputs takes."""
        functions = [self.attribute(name) for name in ("get_inputs", "get_init_inputs")]
        taken = set().union(*(names_taken(function, arguments) for function in functions if function is not None))
        for name in arguments:
            if name not in taken:
                raise faults.Malformed(f"{where} has {name!r}, which neither get_inputs nor get_init_inputs takes")


def names_taken(function: Callable[..., Any], offered: Mapping[str, Any]) -> set[str]:
    """Those of the offered keyword arguments that the function takes."""
    parameters = inspect.signature(function).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return set(offered)
    keyword = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {parameter.name for parameter in parameters if parameter.kind in keyword}


def constants(source: str) -> dict[str, int]:
    """The module-level integers that are spelled out and set once, and so can be replaced: name to value.

    Those of a list or a tuple count one by one: `sizes = [4096, 1024]` holds `sizes[0]` and `sizes[1]`.
    """
    assignments = list(_assignments(ast.parse(source)))
    names = [name for name, _ in assignments]
    numbers = {name: _literal_int(value) for name, value in assignments if names.count(name) == 1}
    return {name: number for name, number in numbers.items() if number is not None}


def sets_training_mode(source: str) -> bool:
    """Whether the module calls `train` or `eval` itself, or looks at `training`."""
    return any(
        isinstance(node, ast.Attribute) and node.attr in ("train", "eval", "training")
        for node in ast.walk(ast.parse(source))
    )


def encode_arguments(arguments: Mapping[str, Any], where: str) -> str:
    """The JSON of a case's arguments, dtypes as `torch.float16`; raises Malformed for what JSON cannot hold."""
    import torch

    def spell(value: object) -> str:
        if isinstance(value, torch.dtype):
            return str(value)
        raise TypeError(f"{type(value).__name__}")

    try:
        return json.dumps(arguments, default=spell, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise faults.Malformed(
            f"{where} holds something other than numbers, strings, lists, dicts and torch dtypes: {error}"
        ) from None


def decode_arguments(text: str) -> dict[str, Any]:
    """The arguments that `encode_arguments` encoded; lists stay lists."""
    import torch

    def restore(value: Any) -> Any:
        if isinstance(value, list):
            return [restore(item) for item in value]
        if isinstance(value, dict):
            return {key: restore(item) for key, item in value.items()}
        if isinstance(value, str) and value.startswith("torch."):
            dtype = getattr(torch, value.removeprefix("torch."), None)
            return dtype if isinstance(dtype, torch.dtype) else value
        return value

    restored = restore(json.loads(text or "{}"))
    if not isinstance(restored, dict):
        raise faults.Malformed(f"arguments_json {text[:80]!r} is no object")
    return restored


def _execute(source: str, path: Path, name: str) -> ModuleType:
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (ImportError, FileNotFoundError) as error:
        raise faults.Unfit(
            f"importing it raised {faults.describe(error, str(path))}; install what it needs with the compiler service"
        ) from error
    except BaseException as error:
        raise faults.Unfit(f"importing it raised {faults.describe(error, str(path))}") from error
    return module


def parse(source: str) -> ast.Module:
    """The syntax tree; raises Malformed with the line where the source does not parse."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f"line {error.lineno}: " if isinstance(error, SyntaxError) and error.lineno else ""
        text = error.msg if isinstance(error, SyntaxError) else str(error)
        raise faults.Malformed(f"does not parse: {line}{text}; send a Python module") from None


def _replace(source: str, replaced: Mapping[str, int]) -> str:
    tree = parse(source)
    if not reference_device.move(tree) and not replaced:
        return source
    values = {id(value): replaced[name] for name, value in _assignments(tree) if name in replaced}
    return ast.unparse(ast.fix_missing_locations(_Replacer(values).visit(tree)))


class _Replacer(ast.NodeTransformer):
    """Puts integers in the place of expressions, which are known by their identity."""

    def __init__(self, values: Mapping[int, int]) -> None:
        self._values = values

    def visit(self, node: ast.AST) -> Any:
        """The node, or the integer in its place."""
        if id(node) in self._values:
            return ast.copy_location(ast.Constant(self._values[id(node)]), node)
        return self.generic_visit(node)


def _assignments(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Names that module-level assignments set and what to: `a = 1`, `a: int = 1`, `a, b = 1, 2`, `a = (1, 2)`."""
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            yield from _pairs(statement.targets[0], statement.value)
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            yield from _pairs(statement.target, statement.value)


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target.id, value
        for index, element in enumerate(_elements(value)):
            yield f"{target.id}[{index}]", element
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for one, other in zip(target.elts, value.elts, strict=True):
            yield from _pairs(one, other)


def _elements(value: ast.expr) -> list[ast.expr]:
    """What a list or a tuple holds, also one that is repeated: `[1024] * 16`."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        value = value.left
    return value.elts[:_MOST_ELEMENTS] if isinstance(value, ast.List | ast.Tuple) else []


def _literal_int(value: ast.expr) -> int | None:
    """The value of an expression of integer literals such as `16 * 1024`, else None."""
    allowed = (ast.BinOp, ast.Constant, ast.operator)
    nodes = list(ast.walk(value))
    if len(nodes) > 15 or not all(isinstance(node, allowed) for node in nodes):
        return None
    if not all(type(node.value) is int for node in nodes if isinstance(node, ast.Constant)):
        return None
    result = eval(compile(ast.Expression(value), "constant", "eval"))
    return result if isinstance(result, int) else None


def _spell(arguments: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())[:200]
