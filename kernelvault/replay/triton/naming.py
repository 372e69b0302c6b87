"""Names by content: equal kernels of different cases and of different captures get equal names."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from kernelvault.replay.triton import values
from kernelvault.v1 import triton_pb2

Function = triton_pb2.TritonProgram.Function
_NAME_DIGITS = 12
_MAX_SHOWN = 400
_SHOWN_OPTIONS = ("num_warps", "num_stages", "waves_per_eu", "matrix_instr_nonkdim", "kpack", "schedule_hint")
_DEFAULTS = {"waves_per_eu": "0", "matrix_instr_nonkdim": "0", "kpack": "1", "schedule_hint": "'none'"}


def function_digests(program: triton_pb2.TritonProgram) -> list[str]:
    """The hex digests of the functions, each over its own text, its place, and all that it refers to.

    The program's references must be in range and without a cycle, as `check` sees to.
    """
    known: dict[int, str] = {}
    for index in order(program):
        known[index] = _function_digest(program.functions[index], known)
    return [known[index] for index in range(len(program.functions))]


def order(program: triton_pb2.TritonProgram) -> list[int]:
    """The functions, each after those that it refers to. One that is part of a cycle, or after it, is missing."""
    needs = [references(function) for function in program.functions]
    users: dict[int, list[int]] = {}
    for index, needed in enumerate(needs):
        for one in needed:
            users.setdefault(one, []).append(index)
    missing = [len(needed) for needed in needs]
    ready = [index for index, count in enumerate(missing) if count == 0]
    for index in ready:
        for user in users.get(index, []):
            missing[user] -= 1
            if missing[user] == 0:
                ready.append(user)
    return ready


def references(function: triton_pb2.TritonProgram.Function) -> set[int]:
    """The functions that a function's globals hold."""
    return {index for value in function.globals.values() for index in values.referenced(value)}


def variant_name(
    program: triton_pb2.TritonProgram, variant: triton_pb2.TritonProgram.Variant, digests: list[str] | None = None
) -> str:
    """`{function}_{12 hex digits}`: of the function with all that it refers to, the parameters and the options.

    `digests` are those of `function_digests`, for callers that name many.
    """
    digests = digests if digests is not None else function_digests(program)
    by_index = dict(enumerate(digests))
    parameters = [
        [
            parameter.name,
            parameter.type if parameter.WhichOneof("kind") == "type" else _plain(parameter.constant, by_index),
            [[attribute.name, attribute.value] for attribute in parameter.attributes],
        ]
        for parameter in variant.parameters
    ]
    options = {name: _plain(value, by_index) for name, value in variant.options.items()}
    digest = _digest([digests[variant.function], parameters, options])
    return f"{program.functions[variant.function].name}_{digest[:_NAME_DIGITS]}"


def display_name(program: triton_pb2.TritonProgram, variant: triton_pb2.TritonProgram.Variant) -> str:
    """A variant as its author would write it: `softmax[BLOCK=1024, num_warps=4]`.

    Leaves out what says nothing: arguments that Triton made constants of, options at their defaults.
    """
    shown = [
        f"{parameter.name}={_shown(program, parameter.constant)}"
        for parameter in variant.parameters
        if parameter.WhichOneof("kind") == "constant" and not parameter.constant.none
    ]
    shown += [
        f"{name}={_shown(program, value)}"
        for name, value in sorted(variant.options.items())
        if name in _SHOWN_OPTIONS and _shown(program, value) != _DEFAULTS.get(name)
    ]
    inner = f"[{', '.join(shown)}]" if shown else ""
    return f"{program.functions[variant.function].name}{inner}"[:_MAX_SHOWN]


def _shown(program: triton_pb2.TritonProgram, value: triton_pb2.TritonProgram.Value) -> str:
    match value.WhichOneof("value"):
        case "function":
            return program.functions[value.function].name
        case "tuple":
            return f"({', '.join(_shown(program, element) for element in value.tuple.values)})"
        case "text":
            return repr(value.text)
        case "none" | None:
            return "None"
        case kind:
            return str(getattr(value, kind))


def _function_digest(function: triton_pb2.TritonProgram.Function, known: Mapping[int, str]) -> str:
    names = {name: _plain(value, known) for name, value in function.globals.items()}
    return _digest([function.name, function.file, function.line, function.source, names, function.noinline])


def _plain(value: triton_pb2.TritonProgram.Value, digests: Mapping[int, str]) -> list[object]:
    """A value in JSON's terms, with functions by their digests."""
    kind = value.WhichOneof("value") or ""
    content: object
    match kind:
        case "tuple":
            content = [_plain(element, digests) for element in value.tuple.values]
        case "function":
            content = digests[value.function]
        case "number":
            content = value.number.hex()
        case "":
            content = None
        case _:
            content = getattr(value, kind)
    return [kind, content, value.constexpr]


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
