"""A launch as Triton's runtime makes it, as an operation of a plan."""

from __future__ import annotations

import ctypes
import operator
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from kernelvault.replay.triton import program as programs
from kernelvault.v1 import plan_pb2, triton_pb2
from svc_compiler.triton.recording import Recording, Unplannable

_INTEGERS = {f"{sign}{bits}": bits // 8 for sign in "iu" for bits in (8, 16, 32, 64)}


def extent(grid: Sequence[Any]) -> plan_pb2.Extent | None:
    """The grid of a launch, or None for an empty one, which launches nothing; raises what Triton's launcher does."""
    sides = [operator.index(side) for side in (*grid, 1, 1)[:3]]
    count = sides[0] * sides[1] * sides[2]
    if count <= 0:
        return None
    if min(sides) < 0 or max(sides) >= 1 << 31:
        raise RuntimeError(f"Triton Error [HIP]:  Code: 1, Messsage: invalid argument (a grid of {tuple(sides)})")
    return plan_pb2.Extent(x=sides[0], y=sides[1], z=sides[2])


def pack(
    recording: Recording, variant: triton_pb2.TritonProgram.Variant, values: Mapping[str, Any], kernel: str
) -> tuple[bytes, list[plan_pb2.Relocation]]:
    """The argument segment of a launch, pointers zeroed, and what they point to."""
    types = {one.name: one.type for one in variant.parameters if one.WhichOneof("kind") == "type"}
    slots = programs.argument_slots(variant)
    segment = bytearray(max((slot.offset + slot.size for slot in slots), default=0))
    relocations = []
    for slot in slots:
        value, kind = values[slot.name], types[slot.name]
        if kind.startswith("*"):
            buffer, offset = _pointer(recording, value, slot.name, kernel)
            relocations.append(plan_pb2.Relocation(at=slot.offset, buffer=buffer, offset=offset))
            continue
        if _is_integer(value) and recording.locate(int(value)) is not None:
            raise Unplannable(
                f"`{kernel}` is passed the address of a tensor as the integer `{slot.name}` ({recording.place()}); "
                "pass the tensor"
            )
        segment[slot.offset : slot.offset + slot.size] = _scalar(value, kind)
    return bytes(segment), relocations


def _pointer(recording: Recording, value: Any, name: str, kernel: str) -> tuple[int, int]:
    inner = getattr(value, "base", value)
    if isinstance(inner, torch.Tensor) and not _on_device(inner):
        raise ValueError(f"Pointer argument `{name}` of `{kernel}` cannot be accessed from Triton (cpu tensor?)")
    address = value.data_ptr()
    place = recording.locate(address)
    if place is None:
        raise Unplannable(f"the pointer `{name}` of `{kernel}` leads to no tensor of the call ({recording.place()})")
    return place


def _on_device(tensor: torch.Tensor) -> bool:
    with torch._C.DisableTorchFunction():
        return bool(tensor.is_meta)


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _scalar(value: Any, kind: str) -> bytes:
    if kind in ("i1", "u1"):
        return bytes([bool(value)])
    if kind in _INTEGERS:
        size = _INTEGERS[kind]
        return (operator.index(value) & ((1 << 8 * size) - 1)).to_bytes(size, "little")
    return _FLOATS[kind](float(value))


def _bfloat16(value: float) -> bytes:
    """Rounded to the nearest, ties to even."""
    return bytes(torch.tensor([value], dtype=torch.bfloat16).view(torch.uint8).tolist())


def _float16(value: float) -> bytes:
    return bytes(torch.tensor([value], dtype=torch.float16).view(torch.uint8).tolist())


_FLOATS: dict[str, Callable[[float], bytes]] = {
    "fp16": _float16,
    "bf16": _bfloat16,
    "fp32": lambda value: bytes(ctypes.c_float(value)),
    "fp64": lambda value: struct.pack("<d", value),
}
