"""How recordings of host code end a candidate, in any language."""

from __future__ import annotations

from collections.abc import Sequence

from kernelvault.v1 import plan_pb2
from svc_compiler.recording.buffers import shape_of_call
from svc_compiler.recording.calls import Assembled, Buffer
from svc_compiler.refusal import Refused, Verdict


def damaged(why: str) -> Refused:
    """The recording is not what the recorder writes."""
    return Refused(Verdict.REJECTED, f"Host code damaged the recording of its run: {why}.")


def unplannable(what: str) -> Refused:
    """What a plan cannot hold, and a device could run."""
    return Refused(Verdict.NEEDS_DEVICE, f"Cannot be recorded without a device: {what}.")


def check_state(buffers: Sequence[Buffer], calls: Sequence[Assembled]) -> None:
    """Raises Refused where the second of two equal calls did something else.

    Constants that the first call alone uploads are allowed: they are not computed from inputs.
    """
    first, second = calls[0].operations, calls[1].operations
    first_results, second_results = ([*(read.source for read in call.reads), *call.results] for call in calls[:2])
    if shape_of_call(buffers, first, first_results) == shape_of_call(buffers, second, second_results):
        return
    constants = [[op.upload.data for op in operations if op.HasField("upload")] for operations in (first, second)]
    rest = [[op for op in operations if not op.HasField("upload")] for operations in (first, second)]
    same = shape_of_call(buffers, rest[0], first_results) == shape_of_call(buffers, rest[1], second_results)
    if not same or not set(constants[1]) <= set(constants[0]):
        raise keeps_state(f"{_count(first)}, then {_count(second)}")


def keeps_state(how: str) -> Refused:
    """The second call is no repetition of the first."""
    return Refused(
        Verdict.REJECTED,
        "Host code keeps state between calls: called again with inputs of the same shapes, it does something else "
        f"({how}). Allocate, fill and launch in each call; only uploads of constants may be done once.",
    )


def _count(operations: Sequence[plan_pb2.Operation]) -> str:
    launches = sum(operation.HasField("launch") for operation in operations)
    return f"{launches} launches and {len(operations) - launches} other operations"
