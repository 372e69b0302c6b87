"""The arguments of a launch, from their bytes."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import triton.language as tl

from kernelvault.replay.replaying import BadPlan
from kernelvault.replay.triton import layout, values
from kernelvault.replay.triton.interpreter.formats import SCALARS, decode, stored
from kernelvault.replay.triton.interpreter.language import Language
from kernelvault.replay.triton.interpreter.launching import pointer
from kernelvault.replay.triton.interpreter.tensors import Handle, Tensor
from kernelvault.v1 import triton_pb2


def of_launch(
    variant: triton_pb2.TritonProgram.Variant, data: bytes, functions: list[Any], language: Language
) -> dict[str, Any]:
    """The values of a variant's parameters by name: tensors, and constants as they are. Raises BadPlan."""
    slots = {slot.name: slot for slot in layout.argument_slots(variant)}
    arguments: dict[str, Any] = {}
    for parameter in variant.parameters:
        if parameter.WhichOneof("kind") == "constant":
            arguments[parameter.name] = language.translate(values.constant(parameter.constant, functions))
            continue
        slot = slots[parameter.name]
        if slot.offset + slot.size > len(data):
            raise BadPlan(f"the arguments of {variant.name} have {len(data)} bytes, too few for {parameter.name!r}")
        arguments[parameter.name] = _value(data[slot.offset : slot.offset + slot.size], parameter.type)
    return arguments


def _value(data: bytes, type_: str) -> Tensor:
    if type_.startswith("*"):
        return pointer(struct.unpack("<q", data)[0], tl.str_to_ty(type_, None))
    scalar = SCALARS[tl.str_to_ty(type_, None).name]
    return Tensor(Handle(decode(np.frombuffer(data, stored(scalar)), scalar), scalar), scalar)
