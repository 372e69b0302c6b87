"""Inductor's host code as a list of steps: allocations, launches and arithmetic on sizes, and nothing else."""

from __future__ import annotations

import ast
import copy
import dataclasses
from collections.abc import Sequence

from svc_generator.rules.graph import NotLowerable
from svc_generator.rules.inductor import kernels
from svc_generator.rules.inductor.kernels import Kernel

_IGNORED_CALLS = {"clear", "set_device", "assert_size_stride", "assert_alignment", "start_graph", "end_graph"}
_ARITHMETIC = {"max", "min", "abs", "int", "float", "math"}


@dataclasses.dataclass
class Allocation:
    """An uninitialised tensor."""

    name: str
    sizes: list[ast.expr]
    strides: list[ast.expr]
    dtype: ast.expr


@dataclasses.dataclass
class View:
    """A tensor in another's memory."""

    name: str
    base: str
    sizes: list[ast.expr]
    strides: list[ast.expr]
    offset: ast.expr


@dataclasses.dataclass
class Launch:
    """A kernel with its arguments, without those that say how it is launched."""

    kernel: str
    arguments: list[ast.expr]


@dataclasses.dataclass
class Number:
    """Arithmetic on sizes."""

    name: str
    value: ast.expr


Step = Allocation | View | Launch | Number


@dataclasses.dataclass
class Program:
    """What Inductor made of a graph."""

    kernels: dict[str, Kernel]
    steps: list[Step]
    returned: list[str]


def read(text: str, inputs: Sequence[str]) -> Program:
    """The program of Inductor's text, with `inputs` as the names of what it is called with.

    Raises NotLowerable for host code that is more than allocations and launches, with the operator that it calls.
    """
    module = ast.parse(text)
    found: dict[str, Kernel] = {}
    for node in module.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            called = ast.unparse(node.value.func)
            if called == "async_compile.triton" and isinstance(node.targets[0], ast.Name):
                found[node.targets[0].id] = kernels.parse(ast.literal_eval(node.value.args[1]))
    call = next(node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == "call")
    reader = _Reader(found, inputs)
    reader.block(call.body)
    return Program(found, reader.steps, reader.returned)


class _Reader:
    """Reads statement by statement; a name that stands for another is replaced by it."""

    def __init__(self, found: dict[str, Kernel], inputs: Sequence[str]) -> None:
        self.kernels = found
        self.inputs = inputs
        self.values: dict[str, ast.expr] = {}
        self.steps: list[Step] = []
        self.returned: list[str] = []

    def block(self, statements: Sequence[ast.stmt]) -> None:
        """Reads statements in order."""
        for statement in statements:
            if isinstance(statement, ast.With):
                self.block(statement.body)
            elif isinstance(statement, ast.Assign):
                self._assign(statement.targets[0], statement.value)
            elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
                self._call(statement.value)
            elif isinstance(statement, ast.Return):
                self._return(statement.value)
            elif not isinstance(statement, ast.Delete):
                raise _unknown(statement)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple):
            for element, name in zip(target.elts, self.inputs, strict=True):
                assert isinstance(element, ast.Name)
                self.values[element.id] = ast.Name(name, ast.Load())
            return
        if not isinstance(target, ast.Name):
            raise _unknown(target)
        if not isinstance(value, ast.Call):
            self._number(target.id, self._arithmetic(value))
            return
        called = ast.unparse(value.func).split(".")[-1]
        if called == "get_raw_stream":
            return
        if called == "empty_strided_cuda":
            sizes, strides = (self._tuple(argument) for argument in value.args[:2])
            self.steps.append(Allocation(target.id, sizes, strides, value.args[2]))
        elif called == "reinterpret_tensor":
            sizes, strides = (self._tuple(argument) for argument in value.args[1:3])
            base = self._name(value.args[0])
            self.steps.append(View(target.id, base, sizes, strides, self._arithmetic(value.args[3])))
        else:
            self._number(target.id, self._arithmetic(value))

    def _number(self, name: str, value: ast.expr) -> None:
        """Short ones are spelled out where they are used."""
        if isinstance(value, ast.Name | ast.Constant) or name.endswith("numel"):
            self.values[name] = value
        else:
            self.steps.append(Number(name, value))

    def _call(self, call: ast.Call) -> None:
        function = call.func
        name = function.attr if isinstance(function, ast.Attribute) else ast.unparse(function)
        if isinstance(function, ast.Attribute) and name == "run" and isinstance(function.value, ast.Name):
            floats = [ast.Name(name, ast.Load()) for name in self.kernels[function.value.id].floats]
            arguments = [self._argument(argument) for argument in [*call.args, *floats]]
            self.steps.append(Launch(function.value.id, arguments))
        elif name not in _IGNORED_CALLS:
            raise _unknown(call)

    def _argument(self, argument: ast.expr) -> ast.expr:
        """Kernels see addresses: a view that starts where its tensor does is its tensor."""
        if isinstance(argument, ast.Call) and ast.unparse(argument.func) == "reinterpret_tensor":
            if ast.unparse(argument.args[3]) == "0":
                return self._arithmetic(argument.args[0])
            name = f"view{len(self.steps)}"
            self._assign(ast.Name(name, ast.Store()), argument)
            return ast.Name(name, ast.Load())
        return self._arithmetic(argument)

    def _return(self, value: ast.expr | None) -> None:
        if not isinstance(value, ast.Tuple):
            raise NotLowerable("the output", "Inductor returns no tuple")
        for element in value.elts:
            if isinstance(element, ast.Call):
                name = f"out{len(self.returned)}"
                self._assign(ast.Name(name, ast.Store()), element)
                self.returned.append(name)
            else:
                self.returned.append(self._name(element))

    def _tuple(self, node: ast.expr) -> list[ast.expr]:
        if not isinstance(node, ast.Tuple):
            raise _unknown(node)
        return [self._arithmetic(element) for element in node.elts]

    def _name(self, node: ast.expr) -> str:
        node = self._arithmetic(node)
        if not isinstance(node, ast.Name):
            raise _unknown(node)
        return node.id

    def _arithmetic(self, node: ast.expr) -> ast.expr:
        """The expression with known names replaced; raises NotLowerable for any call but `max` and its like."""
        for part in ast.walk(node):
            if isinstance(part, ast.Call) and ast.unparse(part.func).split(".")[0] not in _ARITHMETIC:
                raise _unknown(part)
        replaced = _Replace(self.values).visit(node)
        assert isinstance(replaced, ast.expr)
        return replaced


class _Replace(ast.NodeTransformer):
    def __init__(self, values: dict[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """The value that the name stands for."""
        value = self.values.get(node.id)
        return node if value is None else copy.deepcopy(value)


def _unknown(node: ast.AST) -> NotLowerable:
    text = ast.unparse(node)
    called = next((ast.unparse(part.func) for part in ast.walk(node) if isinstance(part, ast.Call)), text)
    return NotLowerable(
        called.removeprefix("extern_kernels.").removeprefix("torch.ops.")[:80], "Inductor calls it from the host"
    )
