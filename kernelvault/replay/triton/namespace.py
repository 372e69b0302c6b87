"""Functions of a Triton program as Python functions, each alone with the names that it declares."""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import re
import textwrap
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from kernelvault.replay.triton import checking, imported, naming, plain_text, source, values
from kernelvault.replay.triton.malformed import Malformed, require
from kernelvault.v1 import triton_pb2

# Turns a Python function into one of Triton's, `triton.jit` or the interpreter's.
Wrap = Callable[[FunctionType, triton_pb2.TritonProgram.Function], Any]
_COPY = re.compile(r"#\d+$")


def materialize(program: triton_pb2.TritonProgram, wrap: Wrap) -> list[Any]:
    """What `wrap` made of each function, in the program's order. A wrapped function is what its users refer to.

    Of foreign text it runs the `def` statements only: without decorators and annotations, with default values that are
    literals or names. The functions name the author's file and lines in tracebacks and in Triton's messages.
    Raises Malformed or SourceError, for all that `check` finds and for names that lead to what is not for kernels.
    Registers the texts with `linecache`, for the life of the process.
    """
    definitions = checking.definitions(program)
    digests = naming.function_digests(program)
    files = _Files()
    made: dict[int, Any] = {}
    for index in naming.order(program):
        function, field = program.functions[index], f"functions[{index}]"
        _check_references(function, definitions[index], field)
        names = {
            name: values.constant(value, made, f"{field}.globals[{name!r}]")
            for name, value in sorted(function.globals.items())
        }
        # Two functions of one name and place may differ in their globals; Triton tells functions apart by module.
        names["__name__"] = f"k{digests[index]}"
        made[index] = wrap(_define(function, definitions[index], names, files, field), function)
    return [made[index] for index in range(len(program.functions))]


def author_file(filename: str) -> str:
    """The author's file that a materialised function's file name stands for."""
    return _COPY.sub("", filename)


class _Files:
    """Texts by file name and line. Where two lay claim to a line, the later one gets a file of its own."""

    def __init__(self) -> None:
        self._lines: dict[str, dict[int, str]] = {}

    def add(self, function: triton_pb2.TritonProgram.Function, text: str) -> str:
        """Registers a text at its place and returns the name of the file that has it."""
        lines = {function.line + i: line + "\n" for i, line in enumerate(text.removesuffix("\n").split("\n"))}
        name, copies = function.file, 1
        while any(self._lines.get(name, {}).get(at, line) != line for at, line in lines.items()):
            copies += 1
            name = f"{function.file}#{copies}"
        held = self._lines.setdefault(name, {})
        held.update(lines)
        whole = [held.get(at, "\n") for at in range(1, max(held) + 1)]
        linecache.cache[name] = (sum(map(len, whole)), None, whole, name)
        return name


def _define(
    function: triton_pb2.TritonProgram.Function,
    definition: source.Definition,
    names: dict[str, Any],
    files: _Files,
    field: str,
) -> FunctionType:
    text = plain_text.of(function, definition.node)
    tree = _reparsed(text, function)
    if tree is None:
        raise source.error(function, field, 1, 0, "write its annotations plainly, or leave them out")
    filename = files.add(function, text)
    ast.increment_lineno(tree, function.line - 1)
    names["__builtins__"] = {name: getattr(builtins, name) for name in source.BUILTINS}
    try:
        # Apart from its globals: else it would find itself there, and Triton has no recursion.
        found: dict[str, Any] = {}
        exec(compile(tree, filename, "exec", dont_inherit=True), names, found)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError, AttributeError, NameError) as caught:
        raise source.error(function, field, 1, 0, f"cannot be defined: {caught}") from None
    made = found[function.name]
    assert isinstance(made, FunctionType)
    # Triton reads a function's text from its file; it must read what was checked.
    require(inspect.getsource(made) == text, f"{field}.source", "does not end where Python sees its end")
    return made


def _reparsed(text: str, function: triton_pb2.TritonProgram.Function) -> ast.Module | None:
    """The tree of a text without annotations, if it says what the function's does."""
    expected = ast.parse(textwrap.dedent(function.source))
    head = expected.body[0]
    assert isinstance(head, ast.FunctionDef)
    head.returns = None
    for argument in head.args.args:
        constexpr = plain_text.is_constexpr(argument.annotation)
        argument.annotation = ast.Constant("constexpr") if constexpr else None
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return None
    return tree if _same(tree, expected) else None


def _same(left: ast.AST, right: ast.AST) -> bool:
    """Whether two trees are equal, places aside; without recursion, as `ast.dump` has its limits."""
    pairs: list[tuple[Any, Any]] = [(left, right)]
    while pairs:
        one, other = pairs.pop()
        if type(one) is not type(other):
            return False
        if isinstance(one, ast.AST):
            pairs += [(getattr(one, name, None), getattr(other, name, None)) for name in one._fields if name != "kind"]
        elif isinstance(one, list):
            if len(one) != len(other):
                return False
            pairs += zip(one, other, strict=True)
        elif one != other:
            return False
    return True


def _check_references(function: triton_pb2.TritonProgram.Function, definition: source.Definition, field: str) -> None:
    for reference in definition.references:
        where = f"{field}.globals[{reference.name!r}]"
        start = imported.resolve(function.globals[reference.name].imported, where)
        try:
            found, rest = imported.walk(start, reference.attributes, where)
        except imported.Missing:
            continue  # a branch that is never taken may name what this Triton lacks; one that is, Triton tells
        except Malformed:
            shown = ".".join((reference.name, *reference.attributes))
            raise source.error(
                function, field, reference.line, reference.column, f"`{shown[:160]}` is not for kernels"
            ) from None
        if reference.in_default and (rest or not imported.is_constexpr(found)):
            problem = "a default value calls nothing but `tl.constexpr`"
            raise source.error(function, field, reference.line, reference.column, problem)
        strange = [name for name in rest if name not in source.VALUE_ATTRIBUTES]
        if strange or isinstance(found, ModuleType):
            problem = f"the attribute `{strange[0][:80]}`" if strange else f"the module `{reference.name}` by itself"
            raise source.error(
                function, field, reference.line, reference.column, f"{problem} has no meaning in a kernel"
            )
