"""What of a Triton program needs a GPU, seen in its text before anything runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kernelvault.replay import plan as plans
from kernelvault.replay.triton import naming, source, waiting
from kernelvault.v1 import plan_pb2, triton_pb2

_LACKING = {
    "inline_asm_elementwise": "inline assembly",
    "dot_scaled": "`tl.dot_scaled`",
    "float8e4b8": "the type float8e4b8 (fnuz), which only the hardware has",
    "float8e5b16": "the type float8e5b16 (fnuz), which only the hardware has",
    "float8e4b15": "the type float8e4b15",
}
_LACKING_TYPES = {"fp8e4b8": "float8e4b8", "fp8e5b16": "float8e5b16", "fp8e4b15": "float8e4b15"}


def obstacle(plan: plan_pb2.LaunchPlan, program: triton_pb2.TritonProgram) -> str | None:
    """Why the plan's kernels cannot be interpreted, in a sentence with the line; None where nothing is to be seen."""
    variants = {variant.name: variant for variant in program.variants}
    for index in {launch.kernel: None for launch in plans.launches(plan)}:
        kernel = plan.kernels[index]
        variant = variants.get(kernel.name)
        if variant is None:
            continue
        why = of_variant(program, variant)
        if why is not None:
            place, what = why
            return f"{place}the kernel {kernel.display_name or kernel.name} needs a GPU: it uses {what}."
    return None


def of_variant(program: triton_pb2.TritonProgram, variant: triton_pb2.TritonProgram.Variant) -> tuple[str, str] | None:
    """Where, as the beginning of a sentence, and what of a variant the interpreter lacks."""
    return _of_types(variant) or next(_of_functions(program, variant.function), None)


def _of_types(variant: triton_pb2.TritonProgram.Variant) -> tuple[str, str] | None:
    for parameter in variant.parameters:
        name = _LACKING_TYPES.get(parameter.type.lstrip("*k"))
        if name is not None:
            return "", f"{_LACKING[name]} (parameter {parameter.name!r})"
    return None


def _of_functions(program: triton_pb2.TritonProgram, first: int) -> Iterator[tuple[str, str]]:
    """Places and what they need, in the function and all that it may call."""
    seen, waiting = {first}, [first]
    while waiting:
        function = program.functions[waiting.pop()]
        for line, what in _of_text(function):
            yield f"{function.file}:{function.line + line - 1}: ", what
        new = naming.references(function) - seen
        seen |= new
        waiting += sorted(new)


def _of_text(function: triton_pb2.TritonProgram.Function) -> Iterator[tuple[int, str]]:
    for node in ast.walk(source.tree_of(function.source)):
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        held = dict(function.globals).get(name)
        imported = held.imported.rsplit(".", 1)[-1] if held is not None else ""
        dtype = _LACKING_TYPES.get(held.dtype) if held is not None else None
        for found in (name if isinstance(node, ast.Attribute) else "", imported, dtype):
            if found in _LACKING:
                yield getattr(node, "lineno", 1), _LACKING[found]
        if isinstance(node, ast.While) and waiting.waits(node):
            yield node.lineno, waiting.WAITS
