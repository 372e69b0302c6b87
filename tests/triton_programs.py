"""Triton programs for tests, made from the text of a module."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from kernelvault.replay.triton import program as programs
from kernelvault.v1 import triton_pb2

Program = triton_pb2.TritonProgram
FILE = "kernels/main.py"
IMPORTS = {"tl": "triton.language", "math": "math", "libdevice": "triton.language.extra.libdevice", "triton": "triton"}


def program(
    text: str, kernel: str, arguments: Mapping[str, object], *, file: str = FILE, **options: object
) -> triton_pb2.TritonProgram:
    """The program of one variant; `text` holds its functions, `arguments` a type as text or a constant in a list.

    Names that the functions use are found among themselves, IMPORTS, and simple assignments in `text`.
    """
    made = Program()
    tree = ast.parse(text)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    index = {node.name: i for i, node in enumerate(functions)}
    constants = {
        node.targets[0].id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    lines = text.split("\n")
    for node in functions:
        source = "\n".join(lines[node.lineno - 1 : node.end_lineno]) + "\n"
        function = made.functions.add(name=node.name, file=file, line=node.lineno, source=source)
        for name in sorted({part.id for part in ast.walk(node) if isinstance(part, ast.Name)}):
            if name in index:
                function.globals[name].function = index[name]
            elif name in IMPORTS:
                function.globals[name].imported = IMPORTS[name]
            elif name in constants:
                function.globals[name].CopyFrom(_constant(constants[name]))
    add_variant(made, index[kernel], arguments, **options)
    return made


def add_variant(
    made: triton_pb2.TritonProgram, function: int, arguments: Mapping[str, object], **options: object
) -> triton_pb2.TritonProgram.Variant:
    """Adds a variant to a program."""
    variant = made.variants.add(function=function)
    for name, what in arguments.items():
        parameter = variant.parameters.add(name=name)
        if isinstance(what, list):
            parameter.constant.CopyFrom(programs.value_of(what[0]))
        else:
            parameter.type = str(what)
            if parameter.type.startswith("*"):
                parameter.attributes.add(name="tt.divisibility", value=16)
    for name, option in options.items():
        variant.options[name].CopyFrom(programs.value_of(option))
    variant.name = programs.variant_name(made, variant)
    return variant


def _constant(node: ast.expr) -> triton_pb2.TritonProgram.Value:
    """The value of a literal, or of `tl.constexpr(literal)`."""
    wrapped = isinstance(node, ast.Call)
    value = programs.value_of(ast.literal_eval(node.args[0] if isinstance(node, ast.Call) else node))
    value.constexpr = wrapped
    return value
