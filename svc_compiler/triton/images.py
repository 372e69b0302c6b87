"""Whether what a compile job left for a variant is what it was asked for: an image, and the code object beside it."""

from __future__ import annotations

import struct

from kernelvault.replay.triton import program as programs
from kernelvault.v1 import plan_pb2, triton_pb2

_WAVE_SIZE = 64
_MAX_THREADS = 1024
_AMDGPU = 224
# LLVM: "User Guide for AMDGPU Backend", EF_AMDGPU_MACH.
_MACHINES = {"gfx90a": 0x3F, "gfx942": 0x4C, "gfx950": 0x4F}
_HEADER_BYTES = 64


def problem(
    program: triton_pb2.TritonProgram,
    variant: triton_pb2.TritonProgram.Variant,
    image: plan_pb2.Image,
    data: bytes,
    target: str,
) -> str:
    """What is wrong with a compiled variant, or nothing."""
    expected = [(slot.offset, slot.size) for slot in programs.argument_slots(variant)]
    visible = [(slot.offset, slot.size) for slot in image.layout if not slot.hidden]
    threads, wave = image.block_threads, image.resources.wave_size
    if not is_code_object(data, target):
        return "it is not one for that target"
    if image.target != target or image.symbol != program.functions[variant.function].name:
        return f"it holds {image.symbol[:80]!r} for {image.target[:20]!r}"
    if visible != expected:
        return f"its arguments lie at {visible}, not at {expected}"
    if wave != _WAVE_SIZE or not 0 < threads <= _MAX_THREADS or threads % _WAVE_SIZE:
        return f"it has {threads} threads in waves of {wave}"
    return ""


def is_code_object(data: bytes, target: str) -> bool:
    """Whether `data` begins as a 64-bit little-endian code object for `target`."""
    if len(data) < _HEADER_BYTES or data[:6] != b"\x7fELF\x02\x01":
        return False
    (machine,) = struct.unpack_from("<H", data, 18)
    (flags,) = struct.unpack_from("<I", data, 48)
    return (machine, flags & 0xFF) == (_AMDGPU, _MACHINES.get(target))
