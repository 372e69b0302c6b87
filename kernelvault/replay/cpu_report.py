"""What a CPU replay found and counted: the other side of runtime/report.h.

The records are written by a process that runs foreign code. They are numbers and short names only; all that is said
about them is said here.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from kernelvault.replay import plan as plans
from kernelvault.v1 import compiler_pb2, plan_pb2, profiler_pb2

Kind = compiler_pb2.Finding.Kind

SEGMENT_BYTES, LINE_BYTES = 64, 128
_HEADER = struct.Struct("<IIiIQ3I3I")
_FINDING = struct.Struct("<II3I3IIiqQQIIIIII64s")
# Words of a counter record, as in report.h; the last ones are not scaled up by the share of blocks that ran.
_MATRIX_TYPES = ("f64", "f32", "xf32", "f16", "f8", "i8")
_SCALED = (
    *("global_read_bytes", "global_write_bytes", "segments", "lines", "asked"),
    *("lds_read_bytes", "lds_write_bytes", "passes", "extra_passes"),
    *("global_atomics", "global_atomic_repeats", "lds_atomics", "lds_atomic_repeats", "barriers"),
    *_MATRIX_TYPES,
    *("half_flops", "single_flops", "double_flops", "packed_flops", "special_operations", "integer_operations"),
    *("active", "issued"),
)
_UNSCALED = (
    *("most_lanes_on_a_word", "most_lanes_on_a_word_of_lds", "hottest_atomic", "hottest_lds_atomic"),
    "unique_segments",
)
# Those that a profile has by the same name.
_FIELDS = profiler_pb2.Profile.Counters.DESCRIPTOR.fields_by_name
_SAME = tuple(name for name in (*_SCALED, *_UNSCALED) if name in _FIELDS)
_COUNTER = struct.Struct(f"<{3 + len(_SCALED) + len(_UNSCALED)}Q")
MAX_FINDINGS, MAX_COUNTERS = 64, 4096
REPORT_BYTES = _HEADER.size + MAX_FINDINGS * _FINDING.size + MAX_COUNTERS * _COUNTER.size

# Spaces of memory.h.
_GLOBAL, _STATIC_LDS, _DYNAMIC_LDS, _VARIABLE, _NOWHERE = range(5)
# Statuses of model.h.
FINISHED, UNKNOWN_KERNEL, STOPPED, TRAPPED, SPINNING, UNSUPPORTED, BAD_LAUNCH, INACTIVE_LANE = range(8)
_MAX_COUNT = (1 << 63) - 1
_SHOWN_CALLERS = 3


@dataclass(frozen=True)
class RawFinding:
    """A finding in numbers; `code` is an offset in the image, 0 where it is unknown."""

    kind: int
    operation: int
    block: tuple[int, ...]
    thread: tuple[int, ...]
    space: int
    object: int
    offset: int
    object_size: int
    code: int
    size: int
    write: bool
    other_thread: int
    other_same_block: bool
    other_write: bool
    name: str
    # Of the other side of a race, where it is another one than `operation`.
    other_operation: int | None = None


@dataclass(frozen=True)
class Report:
    """All of a child's report."""

    status: int
    # That was last begun.
    operation: int
    # Where a kernel ended itself, as an offset in the image, and the block and thread that did.
    trap: tuple[int, tuple[int, ...], tuple[int, ...]]
    findings: list[RawFinding]
    # By operation.
    counters: dict[int, profiler_pb2.Profile.Counters]


def read(data: bytes | memoryview) -> Report:
    """Reads a report; counts beyond the maxima are cut off, findings of unknown kinds left out."""
    finding_count, counter_count, status, operation, code, *ids = _HEADER.unpack_from(data)
    findings = [_finding(data, _HEADER.size + i * _FINDING.size) for i in range(min(finding_count, MAX_FINDINGS))]
    start = _HEADER.size + MAX_FINDINGS * _FINDING.size
    records = [_COUNTER.unpack_from(data, start + i * _COUNTER.size) for i in range(min(counter_count, MAX_COUNTERS))]
    counters = {record[0]: _counters(record[1:]) for record in records}
    trap = (code, tuple(ids[:3]), tuple(ids[3:]))
    return Report(status, operation, trap, [f for f in findings if f.kind in Kind.values() and f.kind], counters)


def _finding(data: bytes | memoryview, at: int) -> RawFinding:
    values = _FINDING.unpack_from(data, at)
    kind, operation, bx, by, bz, tx, ty, tz, space, object_, offset, object_size, code, size = values[:14]
    write, other_thread, other_same_block, other_write, other_operation, name = values[14:]
    return RawFinding(
        kind, operation, (bx, by, bz), (tx, ty, tz), space, object_, offset, object_size, code, size, bool(write),
        other_thread, bool(other_same_block), bool(other_write),
        name.split(b"\0")[0].decode("ascii", errors="replace"),
        other_operation - 1 if other_operation else None,
    )  # fmt: skip


def _counters(record: tuple[int, ...]) -> profiler_pb2.Profile.Counters:
    blocks, sampled = record[0], max(record[1], 1)
    scaled, unscaled = record[2 : 2 + len(_SCALED)], record[2 + len(_SCALED) :]
    count = {name: min(value * blocks // sampled, _MAX_COUNT) for name, value in zip(_SCALED, scaled, strict=True)}
    count |= {name: min(value, _MAX_COUNT) for name, value in zip(_UNSCALED, unscaled, strict=True)}
    made = profiler_pb2.Profile.Counters(
        **{name: count[name] for name in _SAME},
        blocks=min(blocks, _MAX_COUNT),
        sampled_blocks=min(record[1], _MAX_COUNT),
        coalescing=min(1.0, _share(count["asked"], count["segments"] * SEGMENT_BYTES)),
        unique_bytes=min(count["unique_segments"] * SEGMENT_BYTES, _MAX_COUNT),
        lds_conflict_ratio=_share(count["extra_passes"], count["passes"]),
        atomics=_sum(count, "global_atomics", "lds_atomics"),
        atomic_repeats=_sum(count, "global_atomic_repeats", "lds_atomic_repeats"),
        vector_flops=_sum(count, "half_flops", "single_flops", "double_flops"),
        active_lanes=min(1.0, _share(count["active"], count["issued"])),
        matrix_flops=_sum(count, *_MATRIX_TYPES),
        matrix_flops_by_type={name: count[name] for name in _MATRIX_TYPES if count[name]},
    )
    # Where a launch was too long for each of its accesses to be grouped, those that were stand for all.
    share = _share(made.global_read_bytes + made.global_write_bytes, count["asked"])
    made.global_transaction_bytes = min(int(count["segments"] * SEGMENT_BYTES * share), _MAX_COUNT)
    made.global_line_bytes = min(int(count["lines"] * LINE_BYTES * share), _MAX_COUNT)
    return made


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _sum(counts: Mapping[str, int], *names: str) -> int:
    return min(sum(counts[name] for name in names), _MAX_COUNT)


def describe(
    raw: RawFinding, plan: plan_pb2.LaunchPlan, locations: Mapping[int, tuple[str, ...]]
) -> compiler_pb2.Finding:
    """The finding in words, with the names that the plan has for kernels and buffers.

    `locations` has `file:line` by code offset, then those of the calls that led there.
    """
    launch = _launch(raw.operation, plan)
    blamed = launch or _launch(raw.other_operation, plan)
    location, *callers = locations.get(raw.code, ("",))
    calls = f", called from {', '.join(callers[:_SHOWN_CALLERS])}" if callers else ""
    finding = compiler_pb2.Finding(
        kind=cast("compiler_pb2.Finding.Kind", raw.kind),
        message=_message(raw, plan, launch) + calls,
        case_id=plan.case_id,
        location=location,
    )
    if launch:
        finding.block.CopyFrom(_extent(raw.block))
        finding.thread.CopyFrom(_extent(raw.thread))
    if blamed:
        finding.kernel = _name(plan.kernels[blamed.kernel])
    if raw.space != _NOWHERE:
        finding.buffer = _object(raw, plan)[1]
    return finding


def _launch(number: int | None, plan: plan_pb2.LaunchPlan) -> plan_pb2.Launch | None:
    if number is None or number >= len(plan.operations):
        return None
    operation = plan.operations[number]
    return operation.launch if operation.WhichOneof("operation") == "launch" else None


def _name(kernel: plan_pb2.Kernel) -> str:
    return kernel.display_name or kernel.name


def _extent(values: tuple[int, ...]) -> plan_pb2.Extent:
    return plan_pb2.Extent(x=values[0], y=values[1], z=values[2])


def _message(raw: RawFinding, plan: plan_pb2.LaunchPlan, launch: plan_pb2.Launch | None) -> str:
    who = f"thread {_shown(raw.thread)} of block {_shown(raw.block)}"
    access = f"{'writes' if raw.write else 'reads'} {raw.size} bytes"
    what, _ = _object(raw, plan)
    other = _thread_of(raw.other_thread, launch)
    match raw.kind:
        case Kind.OUT_OF_BOUNDS:
            return f"{who} {access} at byte {raw.offset} of {what}, which has {raw.object_size} bytes"
        case Kind.RACE if raw.other_operation is not None:
            return _message_of_streams(raw, plan, f"{access} at byte {raw.offset} of {what}")
        case Kind.RACE:
            where = f"thread {other} of the same block" if raw.other_same_block else "a thread of another block"
            if raw.other_same_block and other == _shown(raw.thread):  # one of those that read it
                where = "another thread of the same block"
            before = "wrote" if raw.other_write else "read"
            missing = "no barrier" if raw.other_same_block else "nothing"
            return f"{who} {access} at byte {raw.offset} of {what} that {where} {before}, with {missing} to order them"
        case Kind.UNINITIALIZED_READ:
            if raw.write:
                access = f"changes {raw.size} bytes with an atomic"
            return f"{who} {access} at byte {raw.offset} of {what}, which nobody has written"
        case Kind.HOST_POINTER:
            if 0 <= raw.offset < 1 << 16:
                return f"{who} {access} through a null pointer (address {raw.offset:#x})"
            return f"{who} {access} at an address that is no device memory, such as a host pointer"
        case Kind.DIVERGENT_BARRIER:
            elsewhere = "left the kernel" if raw.write else "waits at another barrier"
            return f"{who} waits at a barrier while thread {other} of the same wave {elsewhere}"
        case _:
            return f"{who} {access} at byte {raw.offset} of {what}, which is not aligned to the size of the access"


def _message_of_streams(raw: RawFinding, plan: plan_pb2.LaunchPlan, access: str) -> str:
    one, other = (_operation(number, plan) for number in (raw.operation, cast("int", raw.other_operation)))
    before = "wrote" if raw.other_write else "read"
    if raw.operation >= len(plan.operations):
        return f"{one} {access} that {other} {before} on a stream that the caller's stream does not wait for"
    who = f", in thread {_shown(raw.thread)} of block {_shown(raw.block)}," if _launch(raw.operation, plan) else ""
    missing = "with no event or synchronisation to order the two"
    return f"{one}{who} {access} that {other} {before} on another stream, {missing}"


def _operation(number: int, plan: plan_pb2.LaunchPlan) -> str:
    """What an operation is, in words."""
    if number >= len(plan.operations):
        return "the caller"
    kind = plan.operations[number].WhichOneof("operation")
    if kind != "launch":
        return {"fill": "a fill", "upload": "a copy from the host"}.get(str(kind), "a copy")
    return f"the kernel {_name(plan.kernels[plan.operations[number].launch.kernel])}"


def _object(raw: RawFinding, plan: plan_pb2.LaunchPlan) -> tuple[str, str]:
    """What the access meant, in words, and its name."""
    if raw.space == _GLOBAL and 0 <= raw.object < len(plan.buffers):
        buffer = plan.buffers[raw.object]
        role = plan_pb2.Buffer.Role.Name(buffer.role).lower()
        name = buffer.name or f"{role} {buffer.position}"
        return f"the {role} buffer '{name}'", name
    if raw.space == _DYNAMIC_LDS:
        return "the dynamic shared memory", "dynamic shared memory"
    name = plain_name(raw.name)
    kind = "shared" if raw.space == _STATIC_LDS else "module"
    return f"the {kind} variable '{name}'", name


def plain_name(symbol: str) -> str:
    """The last identifier of a mangled variable, for example `tile` of `_ZZ6matmulPfE4tile`."""
    if not symbol.startswith("_Z"):
        return symbol
    names = [symbol[m.end() : m.end() + int(m[0])] for m in re.finditer(r"\d+", symbol)]
    whole = [name for name in names if re.fullmatch(r"[A-Za-z_]\w*", name) and symbol.rstrip("E").endswith(name)]
    return whole[-1] if whole else symbol


def _thread_of(index: int, launch: plan_pb2.Launch | None) -> str:
    if launch is None or not plans.thread_count(launch.block):
        return str(index)
    x, y = launch.block.x, launch.block.y
    return _shown((index % x, index // x % y, index // (x * y)))


def _shown(values: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, values))})"
