"""The numbers of buffers: a trace counts all of them, a plan those of its call, a comparison of calls their roles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kernelvault.v1 import plan_pb2
from svc_compiler.recording.calls import Buffer, Role

_ROLES = {
    Role.INPUT: plan_pb2.Buffer.INPUT,
    Role.OUTPUT: plan_pb2.Buffer.OUTPUT,
    Role.SCRATCH: plan_pb2.Buffer.SCRATCH,
}


def renumbered(operation: plan_pb2.Operation, number: Callable[[int], int]) -> plan_pb2.Operation:
    """A copy whose buffers are numbered anew."""
    changed = plan_pb2.Operation()
    changed.CopyFrom(operation)
    kind = changed.WhichOneof("operation")
    if kind == "fill":
        changed.fill.buffer = number(changed.fill.buffer)
    elif kind == "copy":
        changed.copy.source = number(changed.copy.source)
        changed.copy.destination = number(changed.copy.destination)
    elif kind == "convert":
        changed.convert.source = number(changed.convert.source)
        changed.convert.destination = number(changed.convert.destination)
    elif kind == "upload" and changed.upload.WhichOneof("destination") == "buffer":
        changed.upload.buffer = number(changed.upload.buffer)
    launches = [changed.launch, *changed.launch.alternatives] if kind == "launch" else []
    holders = launches if launches else [changed.upload] if kind == "upload" else []
    for relocation in (relocation for holder in holders for relocation in holder.relocations):
        relocation.buffer = number(relocation.buffer)
    return changed


def used_buffers(operation: plan_pb2.Operation) -> set[int]:
    """The buffers that an operation refers to."""
    used: set[int] = set()

    def note(index: int) -> int:
        used.add(index)
        return index

    renumbered(operation, note)
    return used


def shape_of_call(
    buffers: Sequence[Buffer],
    operations: Sequence[plan_pb2.Operation],
    results: Sequence[plan_pb2.Result],
    *,
    scalars: bool = False,
) -> list[bytes]:
    """A call up to the choice of its buffers: inputs and outputs by their roles, all others by their first use.

    Scalar arguments are left out unless wanted: members that nobody set hold what the stack held, which changes between
    the calls of a process.
    """
    numbers: dict[tuple[int, int], int] = {}

    def number(index: int) -> int:
        if index < 0:
            return index
        buffer = buffers[index]
        key = (int(buffer.role), buffer.position if buffer.role in (Role.INPUT, Role.OUTPUT) else index)
        return numbers.setdefault(key, len(numbers))

    shape = []
    for operation in operations:
        changed = renumbered(operation, number)
        if changed.HasField("launch") and not scalars:
            for launch in (changed.launch, *changed.launch.alternatives):
                launch.ClearField("arguments")
        shape.append(changed.SerializeToString(deterministic=True))
    for result in results:
        changed_result = plan_pb2.Result(buffer=number(result.buffer), view=result.view, variable=result.variable)
        shape.append(changed_result.SerializeToString())
    return shape


def add_results(plan: plan_pb2.LaunchPlan, results: Sequence[plan_pb2.Result], numbers: Mapping[int, int]) -> None:
    """Gives the plan its results, whose buffers are numbered anew; -1 is a tensor without bytes."""
    for result in results:
        if result.buffer < 0 and not result.variable:
            plan.buffers.add(role=plan_pb2.Buffer.SCRATCH, name="empty")
        index = numbers[result.buffer] if result.buffer >= 0 else len(plan.buffers) - 1
        plan.results.add(buffer=max(0, index), view=result.view, variable=result.variable)


def name_of(buffers: Sequence[Buffer], index: int) -> str:
    """What its author knows a buffer by; scratch is counted in the order of its allocation."""
    if buffers[index].name:
        return buffers[index].name
    return f"scratch {sum(one.role == Role.SCRATCH for one in buffers[: index + 1])}"


def plan_buffers(
    buffers: Sequence[Buffer], used: set[int], parameters: Sequence[str]
) -> tuple[list[plan_pb2.Buffer], dict[int, int]]:
    """The plan's buffers, and their numbers by those of the trace: all inputs and outputs, scratch where it is used."""
    made: list[plan_pb2.Buffer] = []
    numbers: dict[int, int] = {}
    scratch = 0
    for index, buffer in enumerate(buffers):
        if buffer.role not in _ROLES or (buffer.role == Role.SCRATCH and index not in used):
            continue
        name = buffer.name
        if buffer.role == Role.SCRATCH:
            scratch += 1
            name = f"contiguous {name}" if name in parameters else f"scratch {scratch}"
        numbers[index] = len(made)
        made.append(
            plan_pb2.Buffer(size_bytes=buffer.size, role=_ROLES[buffer.role], position=buffer.position, name=name)
        )
    return made, numbers
