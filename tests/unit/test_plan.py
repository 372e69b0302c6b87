"""The bounded reader of launch plans: each number out of bounds is refused by its field's name."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kernelvault.replay import bundle, plan
from kernelvault.v1 import plan_pb2

Plan = plan_pb2.LaunchPlan
CALL = plan_pb2.Operation.CALL


def made() -> Plan:
    """A good plan with each kind of operation."""
    message = Plan(case_id="a")
    message.buffers.add(size_bytes=256, role=plan_pb2.Buffer.INPUT, position=0)
    message.buffers.add(size_bytes=256, role=plan_pb2.Buffer.OUTPUT, position=0)
    message.kernels.add(name="k")
    launch = message.operations.add(phase=CALL).launch
    launch.grid.CopyFrom(plan_pb2.Extent(x=2, y=1, z=1))
    launch.block.CopyFrom(plan_pb2.Extent(x=64, y=1, z=1))
    launch.arguments = bytes(24)
    launch.relocations.add(at=0, buffer=0)
    launch.relocations.add(at=8, buffer=1, offset=-4)
    copy = message.operations.add(phase=CALL).copy
    copy.destination, copy.size_bytes = 1, 256
    fill = message.operations.add(phase=CALL).fill
    fill.buffer, fill.size_bytes, fill.pattern = 1, 256, bytes(4)
    upload = message.operations.add(phase=CALL).upload
    upload.variable, upload.data = "v", bytes(16)
    upload.relocations.add(at=8, buffer=0)
    convert = message.operations.add(phase=CALL).convert
    convert.destination = 1
    convert.source_view.CopyFrom(bundle.contiguous_view("float32", [64]))
    convert.destination_view.CopyFrom(bundle.contiguous_view("float16", [64]))
    message.results.add(buffer=1, view=bundle.contiguous_view("float32", [8, 8]))
    return message


def set_(path: str, value: object) -> Callable[[Plan], None]:
    """Sets a field of a plan; parts of the path are names and indices."""

    def change(message: Plan) -> None:
        target: object = message
        *parts, last = path.split(".")
        for part in parts:
            target = target[int(part)] if part.isdigit() else getattr(target, part)  # type: ignore[index]
        setattr(target, last, value)

    return change


def test_good_plan_passes() -> None:
    """Pointers may lie outside of their buffers: what a kernel does with them is checked when it does it."""
    plan.check(made())


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        ("buffers.0.size_bytes", -1, "buffers[0].size_bytes"),
        ("buffers.0.size_bytes", 1 << 40, "buffers[0].size_bytes"),
        ("buffers.0.role", 0, "buffers[0].role"),
        ("buffers.1.role", plan_pb2.Buffer.INPUT, "buffers[1].position"),
        ("buffers.0.position", -1, "buffers[0].position"),
        ("kernels.0.name", "", "kernels[0].name"),
        ("operations.0.phase", 0, "operations[0].phase"),
        ("operations.0.launch.kernel", 1, "operations[0].launch.kernel"),
        ("operations.0.launch.kernel", -1, "operations[0].launch.kernel"),
        ("operations.0.launch.grid.y", 0, "operations[0].launch.grid"),
        ("operations.0.launch.grid.z", 1 << 31, "operations[0].launch.grid"),
        ("operations.0.launch.block.x", 2048, "operations[0].launch.block"),
        ("operations.0.launch.block.x", 0, "operations[0].launch.block"),
        ("operations.0.launch.dynamic_lds_bytes", 1 << 20, "operations[0].launch.dynamic_lds_bytes"),
        ("operations.0.launch.dynamic_lds_bytes", -1, "operations[0].launch.dynamic_lds_bytes"),
        ("operations.0.launch.arguments", bytes(20000), "operations[0].launch.arguments"),
        ("operations.0.launch.relocations.1.at", 17, "operations[0].launch.relocations[1].at"),
        ("operations.0.launch.relocations.1.at", 4, "operations[0].launch.relocations[1].at"),
        ("operations.0.launch.relocations.0.at", -8, "operations[0].launch.relocations[0].at"),
        ("operations.0.launch.relocations.0.buffer", 2, "operations[0].launch.relocations[0].buffer"),
        ("operations.0.launch.relocations.0.offset", 1 << 60, "operations[0].launch.relocations[0].offset"),
        ("operations.1.copy.source", 5, "operations[1].copy.source"),
        ("operations.1.copy.source_offset", 1, "operations[1].copy.source"),
        ("operations.1.copy.size_bytes", -1, "operations[1].copy.source"),
        ("operations.1.copy.destination", 0, "operations[1].copy.destination_offset"),
        ("operations.2.fill.offset", 4, "operations[2].fill"),
        ("operations.2.fill.pattern", bytes(3), "operations[2].fill.pattern"),
        ("operations.2.fill.size_bytes", 6, "operations[2].fill.pattern"),
        ("operations.3.upload.variable", "", "operations[3].upload.variable"),
        ("operations.3.upload.offset", -1, "operations[3].upload.offset"),
        ("operations.3.upload.buffer", 7, "operations[3].upload"),
        ("operations.3.upload.data", bytes(8), "operations[3].upload.relocations[0].at"),
        ("operations.3.upload.data", bytes(70_000), "operations"),
        ("operations.4.convert.source_view.dtype", "float33", "operations[4].convert.source.view.dtype"),
        ("operations.4.convert.source_view.offset_elements", 1, "operations[4].convert.source.view"),
        ("operations.4.convert.source_view.offset_elements", -1, "operations[4].convert.source.view.offset_elements"),
        ("results.0.buffer", 2, "results[0].buffer"),
        ("results.0.view.dtype", "float64", "results[0].view"),
    ],
)
def test_number_out_of_bounds(path: str, value: object, field: str) -> None:
    """The message names the field."""
    message = made()
    set_(path, value)(message)
    with pytest.raises(plan.Malformed) as raised:
        plan.check(message)
    assert str(raised.value).startswith(f"failed to read a launch plan: {field}: ")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda p: p.operations[4].convert.source_view.dims.append(2), "operations[4].convert.source.view.strides"),
        (lambda p: p.results[0].view.strides.__setitem__(0, 100), "results[0].view"),
        (lambda p: p.results[0].view.strides.__setitem__(0, -1), "results[0].view.strides"),
        (lambda p: p.operations[4].convert.destination_view.dims.__setitem__(0, 32), "destination_view.dims"),
        (lambda p: p.operations.add(phase=CALL), "operations[5]"),
        (lambda p: [p.kernels.add(name="k") for _ in range(2000)], "kernels"),
        (lambda p: p.results.add(view={"dtype": "int8", "dims": [1 << 35], "strides": [0]}), "results"),
    ],
)
def test_shapes_and_counts(change: Callable[[Plan], object], field: str) -> None:
    """Views that do not fit, empty operations, too many of a kind, small buffers seen as huge results."""
    message = made()
    change(message)
    with pytest.raises(plan.Malformed) as raised:
        plan.check(message)
    assert field in str(raised.value)


def test_triton_block_comes_from_the_image() -> None:
    """A launch may leave out its block where the kernel's images fix it."""
    message = made()
    message.operations[0].launch.ClearField("block")
    message.kernels[0].images.add(target="gfx942", block_threads=256)
    plan.check(message)


def tuned(count: int) -> Plan:
    message = made()
    launch = message.operations[0].launch
    copies = [plan_pb2.Launch.FromString(launch.SerializeToString()) for _ in range(count)]
    launch.alternatives.extend(copies)
    return message


def test_alternatives_of_a_launch_pass() -> None:
    """The other configurations of an autotuned kernel are launches like the first."""
    plan.check(tuned(3))


def test_alternative_obeys_the_rules_of_a_launch() -> None:
    """A number out of bounds in an alternative is refused by its own name."""
    message = tuned(2)
    message.operations[0].launch.alternatives[1].kernel = 7

    with pytest.raises(plan.Malformed) as raised:
        plan.check(message)

    expected = "operations[0].launch.alternatives[1].kernel: there is no kernel 7"
    assert str(raised.value) == f"failed to read a launch plan: {expected}"


def test_alternative_has_no_alternatives() -> None:
    """Alternatives are one level deep."""
    message = tuned(1)
    inner = message.operations[0].launch.alternatives[0]
    inner.alternatives.add().CopyFrom(tuned(1).operations[0].launch)

    with pytest.raises(plan.Malformed, match=r"alternatives\[0\]\.alternatives: an alternative has none itself"):
        plan.check(message)


def test_alternatives_are_bounded() -> None:
    """A launch has only so many alternatives."""
    with pytest.raises(plan.Malformed, match=r"launch\.alternatives: 65 are more than 64"):
        plan.check(tuned(65))


def reaching(*operations: plan_pb2.Operation) -> Plan:
    """A plan of three buffers; the last is the result."""
    message = Plan(operations=operations)
    message.results.add(buffer=2, view=bundle.contiguous_view("float32", [4]))
    return message


def launching(*buffers: int) -> plan_pb2.Operation:
    """A launch with pointers to these."""
    return plan_pb2.Operation(launch={"relocations": [{"at": 8 * i, "buffer": b} for i, b in enumerate(buffers)]})


COPY = plan_pb2.Operation(copy={"source": 1, "destination": 2, "size_bytes": 16})
CONVERT = plan_pb2.Operation(convert={"source": 1, "destination": 2})
TABLE = plan_pb2.Operation(upload={"buffer": 0, "relocations": [{"buffer": 2}]})


@pytest.mark.parametrize(
    "operations",
    [[launching(0, 2)], [launching(0, 1), COPY], [launching(1), CONVERT], [TABLE, launching(0)]],
    ids=["pointer", "copy", "conversion", "table of pointers"],
)
def test_results_that_a_kernel_can_have_written(operations: list[plan_pb2.Operation]) -> None:
    """A result is a kernel's where a launch reaches its buffer, or the one that it was copied from."""
    assert plan.unlaunched_results(reaching(*operations)) == []


@pytest.mark.parametrize(
    "operations",
    [[], [COPY], [launching(0, 1)], [COPY, launching(0, 1)], [launching(0), TABLE]],
    ids=["nothing", "copy of an input", "launch elsewhere", "copy before the launch", "table after the launch"],
)
def test_results_that_no_kernel_writes(operations: list[plan_pb2.Operation]) -> None:
    """A result that no launch can reach is nobody's."""
    assert plan.unlaunched_results(reaching(*operations)) == [0]
