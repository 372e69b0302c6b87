"""How a Triton kernel's arguments lie in its argument segment."""

from __future__ import annotations

from kernelvault.replay.triton.malformed import require
from kernelvault.v1 import plan_pb2, triton_pb2

_POINTER_BYTES = 8
_BYTES = {"i1": 1, "u1": 1, "bf16": 2, "fp16": 2, "fp32": 4, "fp64": 8}
_BYTES |= {f"{sign}{bits}": bits // 8 for sign in "iu" for bits in (8, 16, 32, 64)}


def check_type(text: str, field: str) -> None:
    """Raises Malformed unless a kernel can take an argument of this type."""
    require(text.startswith("*") or text in _BYTES, field, f"an argument cannot be {text[:40]!r}")


def size_bytes(text: str) -> int:
    """The size of an argument of a type such as `*fp32` or `i64`; it is its alignment, too."""
    return _POINTER_BYTES if text.startswith("*") else _BYTES[text]


def argument_slots(variant: triton_pb2.TritonProgram.Variant) -> list[plan_pb2.Image.ArgumentSlot]:
    """The slots of the parameters that have a type, in order: AMD aligns each to its own size. No hidden ones."""
    slots, offset = [], 0
    for parameter in variant.parameters:
        if parameter.WhichOneof("kind") != "type":
            continue
        size = size_bytes(parameter.type)
        offset = -(-offset // size) * size
        slots.append(plan_pb2.Image.ArgumentSlot(offset=offset, size=size, name=parameter.name))
        offset += size
    return slots
