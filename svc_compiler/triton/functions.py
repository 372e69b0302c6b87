"""Triton functions of a loaded module, as data: their text, the names that they use, and what a launch compiles."""

from __future__ import annotations

import ast
import builtins
import inspect
import re
import symtable
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import triton.language as tl
from triton.runtime.jit import JITFunction

from kernelvault.replay.triton import program as programs
from kernelvault.v1 import triton_pb2
from svc_compiler.triton.recording import NotCompilable, Unplannable

Program = triton_pb2.TritonProgram
# Written out in each variant, whether or not the author gave them.
_ALWAYS = ("num_warps", "num_stages")
# Parts of a default value that stand for themselves.
_PLAIN = (ast.Constant, ast.Name, ast.Attribute, ast.UnaryOp, ast.unaryop, ast.Tuple, ast.expr_context)
# Triton's, and not data: a kernel that uses them may be right.
_BEYOND = ("ConstexprFunction", "TensorDescriptor", "tensor_descriptor", "GluonJITFunction")


class Specialisation(NamedTuple):
    """What Triton's binder asks to be compiled of a function; constants and attributes go by the argument's place."""

    signature: Mapping[str, Any]
    constants: Mapping[tuple[int, ...], Any]
    attributes: Mapping[tuple[int, ...], Any]
    options: Mapping[str, Any]


class Functions:
    """Makes one program of all functions that are launched; each function and each variant stands there once."""

    def __init__(self, sources: Path) -> None:
        self.program = Program()
        self._sources = sources.resolve()
        self._indices: dict[int, int] = {}
        self._contents: dict[bytes, int] = {}
        self._bytes = 0
        # Kept, so that no other function gets the identity of a known one.
        self._kept: list[JITFunction[Any]] = []
        self._open: list[JITFunction[Any]] = []
        self._variants: dict[str, int] = {}

    def variant(self, function: JITFunction[Any], asked: Specialisation, defaults: Mapping[str, Any]) -> int:
        """The index of a variant; options that are `defaults` need no mention. Raises Unplannable, NotCompilable."""
        variant = Program.Variant(function=self._index(function))
        for position, (name, kind) in enumerate(asked.signature.items()):
            parameter = variant.parameters.add(name=name)
            if kind == "constexpr":
                value = asked.constants.get((position,))
                parameter.constant.CopyFrom(self._value(value, function, f"the argument `{name}`"))
            elif isinstance(kind, str) and "tensordesc" not in kind:
                parameter.type = kind
            else:
                shown = "a tensor descriptor" if isinstance(kind, str) else "a tuple"
                raise Unplannable(f"{shown} as the argument `{name}` of {self._named(function)}")
            for attribute, value in asked.attributes.get((position,), ()):
                parameter.attributes.add(name=attribute, value=value)
        for name in programs.OPTIONS:
            value = asked.options.get(name)
            if name in asked.options and (name in _ALWAYS or value != defaults.get(name)):
                variant.options[name].CopyFrom(self._value(value, function, f"the option `{name}`"))
        variant.name = programs.variant_name(self.program, variant)
        if variant.name not in self._variants:
            self._bytes += variant.ByteSize()
            if len(self._variants) == programs.MAX_VARIANTS or self._bytes > programs.MAX_BYTES // 2:
                raise Unplannable("host code launches more different kernels than a program holds")
            self._variants[variant.name] = len(self.program.variants)
            self.program.variants.append(variant)
        return self._variants[variant.name]

    def _index(self, function: JITFunction[Any]) -> int:
        if id(function) in self._indices:
            return self._indices[id(function)]
        if function in self._open:
            raise NotCompilable(f"{self._named(function)} calls itself; Triton has no recursion", self._place(function))
        if function.is_gluon():
            raise Unplannable(f"{self._named(function)} is written in Gluon")
        self._open.append(function)
        made = self._made(function)
        self._open.pop()
        self._kept.append(function)
        self._indices[id(function)] = self._number(made)
        return self._indices[id(function)]

    def _number(self, made: triton_pb2.TritonProgram.Function) -> int:
        """Equal functions, as factories of kernels make them, are one."""
        content = made.SerializeToString(deterministic=True)
        if content not in self._contents:
            self._bytes += len(content)
            if len(self._contents) == programs.MAX_FUNCTIONS or self._bytes > programs.MAX_BYTES // 2:
                raise Unplannable("host code launches more different kernels than a program holds")
            self._contents[content] = len(self.program.functions)
            self.program.functions.append(made)
        return self._contents[content]

    def _made(self, function: JITFunction[Any]) -> triton_pb2.TritonProgram.Function:
        file, line = self._place(function)
        made = Program.Function(name=function.fn.__name__, file=file, line=line, source=_plain_source(function))
        made.noinline = bool(function.noinline)
        for name in _outer_names(made.source):
            known, value = _lookup(function, name)
            if known:
                made.globals[name].CopyFrom(self._value(value, function, f"the global `{name}`"))
        return made

    def _value(self, value: Any, function: JITFunction[Any], what: str) -> triton_pb2.TritonProgram.Value:
        try:
            return programs.value_of(value, self._index_of)
        except programs.Unsupported as error:
            if isinstance(value, ModuleType):
                raise Unplannable(
                    f"{self._named(function)} uses {what}, a module; import the functions themselves from it"
                ) from None
            kind = type(value)
            if kind.__name__ in _BEYOND or hasattr(value, "__triton_aggregate__"):
                raise Unplannable(f"{what} of {self._named(function)} is a {kind.__name__}") from None
            raise NotCompilable(
                f"{self._named(function)} uses {what}, {error}; kernels may use numbers, strings, dtypes, "
                "tl.constexpr, other @triton.jit functions and parts of triton.language, anything else is an argument",
                self._place(function),
            ) from None

    def _index_of(self, value: Any) -> int:
        if isinstance(value, JITFunction):
            return self._index(value)
        raise programs.Unsupported(f"a {type(value).__name__}")

    def _named(self, function: JITFunction[Any]) -> str:
        file, line = self._place(function)
        return f"`{function.fn.__name__}` ({file}:{line})"

    def _place(self, function: JITFunction[Any]) -> tuple[str, int]:
        """Of the `def`, in the author's file."""
        path = Path(inspect.getsourcefile(function.fn) or function.fn.__code__.co_filename).resolve()
        file = str(path.relative_to(self._sources)) if path.is_relative_to(self._sources) else path.name
        decorators = next(
            (at for at, text in enumerate(function.raw_src) if re.match(r"\s*def\s+\w+\s*\(", text)),
            0,
        )
        return file, function.starting_line_number + decorators


def _plain_source(function: JITFunction[Any]) -> str:
    """The `def`, as Triton sees it, with computed default values replaced by what they came to."""
    lines = function.src.rstrip("\n").split("\n")
    definition = _definition(function.src)
    named = definition.args.args[len(definition.args.args) - len(definition.args.defaults) :]
    for argument, node in reversed(list(zip(named, definition.args.defaults, strict=True))):
        value = function.signature.parameters[argument.arg].default
        value = value.value if isinstance(value, tl.constexpr) else value
        computed = any(not isinstance(part, _PLAIN) for part in ast.walk(node))
        if computed and isinstance(value, int | float | str | None) and node.lineno == node.end_lineno:
            line = lines[node.lineno - 1].encode()
            changed = line[: node.col_offset] + repr(value).encode() + line[node.end_col_offset :]
            lines[node.lineno - 1] = changed.decode()
    return "\n".join(lines) + "\n"


def _definition(source: str) -> ast.FunctionDef:
    definition = ast.parse(source).body[0]
    assert isinstance(definition, ast.FunctionDef)
    return definition


def _outer_names(source: str) -> list[str]:
    """Names that a `def` takes from outside: in its body and in its default values."""
    table = symtable.symtable(source, "<kernel>", "exec")
    names = {
        symbol.get_name()
        for inner in _tables(table.get_children())
        for symbol in inner.get_symbols()
        if symbol.is_global() and symbol.is_referenced()
    }
    for default in _definition(source).args.defaults:
        names |= {node.id for node in ast.walk(default) if isinstance(node, ast.Name)}
    return sorted(names)


def _tables(tables: list[symtable.SymbolTable]) -> Iterator[symtable.SymbolTable]:
    for table in tables:
        yield table
        yield from _tables(table.get_children())


def _lookup(function: JITFunction[Any], name: str) -> tuple[bool, Any]:
    """Whether a name is known outside of the function, and what it is; Python's own names are not counted."""
    code, closure = function.fn.__code__, function.fn.__closure__ or ()
    for free, cell in zip(code.co_freevars, closure, strict=True):
        if free == name:
            try:
                return True, cell.cell_contents
            except ValueError:
                return False, None
    known = name in function.__globals__
    value = function.__globals__.get(name)
    own = hasattr(builtins, name) and value is getattr(builtins, name)
    return known and not own, value
