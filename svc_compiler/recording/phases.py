"""What a plan does once, and what it does in each call."""

from __future__ import annotations

from collections.abc import Sequence

from kernelvault.v1 import kernel_pb2, plan_pb2
from svc_compiler.recording.buffers import used_buffers
from svc_compiler.recording.calls import Buffer, Role


def set_phases(
    operations: Sequence[plan_pb2.Operation], before: int, buffers: Sequence[Buffer], case: kernel_pb2.Case
) -> None:
    """What happened `before` the call is done once, up to the first operation that uses an input of the call.

    The recording shared its process with the candidate, and could call the work of the call a preparation.
    """
    prepared = {position for position, parameter in enumerate(case.parameters) if parameter.of_model}
    inputs = {i for i, one in enumerate(buffers) if one.role == Role.INPUT and one.position not in prepared}
    phase = plan_pb2.Operation.INIT
    for number, operation in enumerate(operations):
        if number >= before or inputs.intersection(used_buffers(operation)):
            phase = plan_pb2.Operation.CALL
        operation.phase = phase
