"""The buffers that operations of a plan touch."""

from __future__ import annotations

from kernelvault.v1 import plan_pb2

Operation = plan_pb2.Operation


def destination(operation: Operation) -> int:
    """The buffer that an operation writes and that is known without running a kernel, or -1."""
    match operation.WhichOneof("operation"):
        case "fill":
            return operation.fill.buffer
        case "upload":
            return operation.upload.buffer
        case "copy":
            return operation.copy.destination
        case "convert":
            return operation.convert.destination
        case _:
            return -1


def used_by(operation: Operation) -> list[int]:
    """All buffers that an operation refers to."""
    match operation.WhichOneof("operation"):
        case "launch":
            launches = (operation.launch, *operation.launch.alternatives)
            return [relocation.buffer for launch in launches for relocation in launch.relocations]
        case "copy":
            return [operation.copy.source, operation.copy.destination]
        case "convert":
            return [operation.convert.source, operation.convert.destination]
        case "upload":
            return [operation.upload.buffer, *(relocation.buffer for relocation in operation.upload.relocations)]
        case _:
            return [destination(operation)]
