"""The programs of a candidate's cases become one: equal kernels are one kernel, whatever they were captured for."""

from __future__ import annotations

from collections.abc import Iterable

from kernelvault.replay.triton import naming
from kernelvault.replay.triton import program as programs
from kernelvault.v1 import triton_pb2

Program = triton_pb2.TritonProgram


def merge(given: Iterable[triton_pb2.TritonProgram]) -> triton_pb2.TritonProgram:
    """All variants of the programs, each once, with the functions that they need, each once.

    Names of variants are of their content, so that plans stay right. The programs must have passed `program.check`;
    the merged one is in the order of their first use.
    """
    merged = Program()
    known: dict[str, int] = {}
    names: set[str] = set()
    for program in given:
        numbers = _add_functions(merged, program, known)
        for variant in program.variants:
            if variant.name not in names:
                names.add(variant.name)
                _add_variant(merged, variant, numbers)
    return merged


def _add_functions(merged: Program, program: Program, known: dict[str, int]) -> dict[int, int]:
    """The functions' numbers in the merged program, by those of their own."""
    digests = programs.function_digests(program)
    numbers: dict[int, int] = {}
    for index in naming.order(program):
        digest = digests[index]
        if digest not in known:
            known[digest] = len(merged.functions)
            added = merged.functions.add()
            added.CopyFrom(program.functions[index])
            for value in added.globals.values():
                _renumber(value, numbers)
        numbers[index] = known[digest]
    return numbers


def _add_variant(merged: Program, variant: triton_pb2.TritonProgram.Variant, numbers: dict[int, int]) -> None:
    added = merged.variants.add()
    added.CopyFrom(variant)
    added.function = numbers[variant.function]
    for parameter in added.parameters:
        if parameter.WhichOneof("kind") == "constant":
            _renumber(parameter.constant, numbers)


def _renumber(value: triton_pb2.TritonProgram.Value, numbers: dict[int, int]) -> None:
    if value.WhichOneof("value") == "function":
        value.function = numbers[value.function]
    elif value.WhichOneof("value") == "tuple":
        for element in value.tuple.values:
            _renumber(element, numbers)
