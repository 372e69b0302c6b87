"""Triton kernels as data: reading them, checking them, and making functions of them.

The message comes from a process that held foreign code. What compiles and what is interpreted are made from the same
bytes by the same `materialize`, so that one source has one meaning.
"""

from __future__ import annotations

from google.protobuf.message import DecodeError

from kernelvault.replay.triton.checking import MAX_FUNCTIONS, MAX_VARIANTS, OPTIONS, check
from kernelvault.replay.triton.layout import argument_slots
from kernelvault.replay.triton.malformed import Malformed, SourceError
from kernelvault.replay.triton.namespace import Wrap, author_file, materialize
from kernelvault.replay.triton.naming import display_name, function_digests, variant_name
from kernelvault.replay.triton.values import Unsupported, constant, imported_name, value_of
from kernelvault.v1 import triton_pb2

__all__ = [
    "MAX_BYTES",
    "MAX_FUNCTIONS",
    "MAX_VARIANTS",
    "OPTIONS",
    "Malformed",
    "SourceError",
    "Unsupported",
    "Wrap",
    "argument_slots",
    "author_file",
    "check",
    "constant",
    "display_name",
    "function_digests",
    "imported_name",
    "materialize",
    "read",
    "value_of",
    "variant_name",
]

MAX_BYTES = 4 << 20


def read(data: bytes) -> triton_pb2.TritonProgram:
    """The checked program of a message's bytes. Raises Malformed, which names the field, for anything else."""
    if len(data) > MAX_BYTES:
        raise Malformed("program", f"{len(data)} bytes are more than {MAX_BYTES}")
    try:
        program = triton_pb2.TritonProgram.FromString(data)
    except DecodeError:
        raise Malformed("program", "is not such a message") from None
    check(program)
    return program
