"""What bounds a candidate and what to try first: rules with thresholds, in words for a model that writes the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from kernelvault.devices import Gpu
from kernelvault.v1 import profiler_pb2
from svc_profiler import roofline
from svc_profiler.roofline import Work

KernelEstimate = profiler_pb2.Profile.KernelEstimate
CaseEstimate = profiler_pb2.Profile.CaseEstimate

# A wave of 64 neighbouring floats has 1.0; below this, segments are fetched for a part of their bytes.
POOR_COALESCING = 0.7
# Extra passes over LDS for each needed one.
BAD_CONFLICTS = 0.2
# Segments through the caches for each distinct byte: reuse that registers or LDS could serve.
MUCH_REUSE = 4.0
# Bytes read of memory and LDS for each distinct byte; beyond it, multiply-accumulates are those of a product.
PRODUCT_REUSE = 16.0
# Lanes' atomics for each distinct byte written.
MANY_ATOMICS = 0.25
# Atomic operations on one word from which on they are worth a word.
MANY_ON_ONE = 1024
# Share of active lanes below which divergence is.
FEW_LANES = 0.5
LOW_OCCUPANCY_WAVES = 4.0
# Blocks for each compute unit; below it the last, partly filled round counts.
FEW_ROUNDS = 4
GOOD_FRACTION = 0.75
_MOST_KERNELS = 3
_MOST_REMEDIES = 3
_SHARE_WORTH_A_WORD = 0.1

Rule = Callable[[Work, KernelEstimate, Gpu], str]


def of_case(case: CaseEstimate, works: Sequence[Work], gpu: Gpu, moves: Sequence[KernelEstimate]) -> str:
    """The advice for one case; `works` belong to the first kernels of the case, `moves` are its copies and fills."""
    fraction = min(1.0, case.floor_ns / case.time_ns) if case.time_ns else 0.0
    lines = [
        f"Case {case.case_id}: {_time(case.time_ns)} modelled on {gpu.name}, {fraction:.0%} of what its bytes allow "
        f"({_time(case.floor_ns)})."
    ]
    if fraction >= GOOD_FRACTION:
        lines.append("It is close to the floor; little is left to gain on this case.")
    lines += [text for text in (_launches(case, len(works)), _moves(case, moves)) if text]
    pairs = sorted(zip(case.kernels, works, strict=False), key=lambda pair: -pair[0].time_ns)
    for kernel, work in pairs[:_MOST_KERNELS]:
        if kernel.time_ns >= _SHARE_WORTH_A_WORD * case.time_ns:
            lines.append(_kernel(kernel, work, gpu, case.time_ns))
    return "\n".join(lines)


def _kernel(kernel: KernelEstimate, work: Work, gpu: Gpu, whole_ns: float) -> str:
    share = kernel.time_ns / whole_ns if whole_ns else 0.0
    found = [text for rule in _rules(kernel.bound) if (text := rule(work, kernel, gpu))][:_MOST_REMEDIES]
    head = f"{kernel.name} takes {share:.0%}, bound by {_BOUNDS[kernel.bound]}."
    if not found:
        return f"{head} {_OTHERWISE[kernel.bound]}"
    return "\n  - ".join([f"{head} Try first:", *found])


def _launches(case: CaseEstimate, launches: int) -> str:
    count = len(case.kernels)
    overhead = count * roofline.LAUNCH_NS
    if count < 2 or overhead < 0.25 * case.time_ns:
        return ""
    return (
        f"{count} operations on the device, {launches} of them kernels, cost about {_time(overhead)} to start: fuse "
        "them so that intermediate results stay in registers or LDS."
    )


def _moves(case: CaseEstimate, moves: Sequence[KernelEstimate]) -> str:
    spent = sum(move.time_ns for move in moves)
    if not moves or spent < _SHARE_WORTH_A_WORD * case.time_ns:
        return ""
    return (
        f"Copies, fills and conversions outside kernels take {_time(spent)}: read strided inputs in the kernel instead "
        "of calling contiguous(), and let the kernel write every element instead of filling first."
    )


def _coalescing(work: Work, kernel: KernelEstimate, gpu: Gpu) -> str:
    counters = work.counters
    if not counters.global_transaction_bytes or counters.coalescing >= POOR_COALESCING:
        return ""
    return (
        f"coalescing is {counters.coalescing:.0%}: neighbouring lanes should touch neighbouring addresses. Let "
        "threadIdx.x run along the fastest axis, or load tiles into LDS row by row and read them transposed from there."
    )


def _reuse(work: Work, kernel: KernelEstimate, gpu: Gpu) -> str:
    unique, moved = roofline.unique_bytes(work), work.counters.global_transaction_bytes
    if not unique or moved < MUCH_REUSE * unique:
        return ""
    advice = "keep them in registers or stage tiles in LDS" if not work.counters.lds_read_bytes else "make tiles larger"
    return f"each byte is fetched {moved / unique:.0f} times through the caches: {advice}."


def _vectorise(work: Work, kernel: KernelEstimate, gpu: Gpu) -> str:
    mix = work.resources.instructions
    wide = sum(mix.get(f"global_load_b{bits}", 0) for bits in (64, 96, 128))
    narrow = sum(mix.get(f"global_load_b{bits}", 0) for bits in (8, 16, 32))
    if not narrow or wide >= narrow:
        return ""
    return (
        "most loads are of 32 bits or less a lane: move 16 bytes at once (float4, or eight halves) and give each "
        "thread several elements, so that more bytes are under way."
    )


def _conflicts(work: Work, kernel: KernelEstimate, gpu: Gpu) -> str:
    ratio = work.counters.lds_conflict_ratio
    if ratio < BAD_CONFLICTS:
        return ""
    return (
        f"LDS bank conflicts add {ratio:.0%} of passes: pad rows by one element (tile[N][N + 1]) or swizzle the index, "
        "so that the lanes of half a wave hit different banks of 32."
    )


def _occupancy(work: Work, kernel: KernelEstimate, gpu: Gpu) -> str:
    if kernel.occupancy_waves >= LOW_OCCUPANCY_WAVES:
        return ""
    resources = work.resources
    why = {
        "vgprs": f"{resources.vgprs + resources.agprs} vector registers a lane: smaller tiles, less unrolling, or "
        "__launch_bounds__(threads, blocks)",
        "lds": f"{resources.lds_bytes + work.dynamic_lds_bytes} bytes of LDS a block of {gpu.lds_bytes}: smaller or "
        "reused tiles, narrower element types",
        "sgprs": f"{resources.sgprs} scalar registers: fewer kernel arguments and uniform values",
        "block": f"blocks of {work.threads} threads leave room that no further block fits into: use 256 or 512 threads",
    }.get(kernel.occupancy_limit)
    return f"{kernel.occupancy_waves:g} of 8 waves a SIMD are resident, limited by {why}." if why else ""


def _spills(work: Work, kernel: KernelEstimate, gpu: Gpu) -> str:
    resources = work.resources
    if not resources.spilled_registers and not resources.scratch_bytes:
        return ""
    return (
        f"{resources.spilled_registers} registers are spilled and {resources.scratch_bytes} bytes of scratch a lane "
        "are used: index local arrays with constants (unroll fully), shrink them, or allow more registers with a "
        "smaller __launch_bounds__."
    )


def _grid(work: Work, kernel: KernelEstimate, gpu: Gpu) -> str:
    units = gpu.compute_units
    if work.blocks < units:
        return (
            f"{work.blocks} blocks leave {units - work.blocks} of {units} compute units idle: split the work over more "
            "blocks, for a reduction in two steps."
        )
    rounds = work.blocks / units
    tail = work.blocks % units
    if rounds < FEW_ROUNDS and tail and tail < units / 2:
        return f"{work.blocks} blocks on {units} compute units leave the last round {tail / units:.0%} full: {_EVEN}"
    return ""


def _atomics(work: Work, kernel: KernelEstimate, gpu: Gpu) -> str:
    counters = work.counters
    if counters.hottest_atomic > max(MANY_ON_ONE, counters.atomics / 4):
        return (
            f"{counters.hottest_atomic} atomic operations go to one word and wait for one another: reduce within a "
            "wave (__shfl_xor) and a block (LDS) first."
        )
    if counters.atomics < max(1024, MANY_ATOMICS * counters.unique_bytes):
        return ""
    return (
        f"{counters.atomics} atomic operations: reduce within a wave (__shfl_xor) and a block (LDS) first, so that one "
        "lane of a block updates memory."
    )


def _divergence(work: Work, kernel: KernelEstimate, gpu: Gpu) -> str:
    active = work.counters.active_lanes
    if not active or active >= FEW_LANES:
        return ""
    return (
        f"of the lanes that waves pay for {active:.0%} work: use blocks of a multiple of 64 threads, and let a "
        "branch's condition be the same for a whole wave, or compute both sides and select."
    )


def _matrix_units(work: Work, kernel: KernelEstimate, gpu: Gpu) -> str:
    mix = work.resources.instructions
    fused = sum(count for name, count in mix.items() if name.startswith("fma"))
    read = work.counters.global_read_bytes + work.counters.lds_read_bytes
    if work.counters.matrix_flops or not fused or read < PRODUCT_REUSE * roofline.unique_bytes(work):
        return ""
    return "multiply-accumulates run on the vector units: the matrix units do them many times faster (mfma builtins)."


def _transcendental(work: Work, kernel: KernelEstimate, gpu: Gpu) -> str:
    mix = work.resources.instructions
    if mix.get("transcendental", 0) < 4:
        return ""
    return "exponentials, logarithms or divisions weigh in: __expf, a multiplication by a reciprocal, fewer passes."


_EVEN = "choose the tile so that blocks are a multiple of the compute units, or let blocks loop over the grid."
_RULES: tuple[Rule, ...] = (
    _spills,
    _grid,
    _coalescing,
    _conflicts,
    _atomics,
    _divergence,
    _reuse,
    _occupancy,
    _vectorise,
    _matrix_units,
    _transcendental,
)
# What helps first where the bound is known.
_FIRST: dict[str, tuple[Rule, ...]] = {
    "memory": (_coalescing, _atomics, _reuse, _spills),
    "compute": (_spills, _reuse, _matrix_units, _grid, _transcendental),
    "lds": (_conflicts, _matrix_units, _reuse),
    "latency": (_grid, _coalescing, _occupancy, _vectorise),
}


def _rules(bound: str) -> Sequence[Rule]:
    """The rules for a bound, the ones that address it first; a launch that is too short for anything has few."""
    if bound == "launch":
        return (_spills, _atomics, _coalescing, _conflicts)
    first = _FIRST[bound]
    return [*first, *(rule for rule in _RULES if rule not in first)]


_BOUNDS = {
    "memory": "memory traffic",
    "compute": "arithmetic",
    "lds": "LDS traffic",
    "latency": "latency: too few bytes are under way at once",
    "launch": "the cost of a launch",
}
_OTHERWISE = {
    "memory": "It moves little more than it must; only touching fewer bytes helps (fusion, a narrower type).",
    "compute": "Look for arithmetic that can be hoisted or shared between elements.",
    "lds": "Keep a larger tile of the result in registers, so that each value read from LDS is used more often.",
    "latency": "Give each thread more independent loads before it uses the first.",
    "launch": "It is too short to matter by itself: fuse it with its neighbours.",
}


def of_plan(cases: Iterable[str], notes: Iterable[str]) -> str:
    """The whole text of a profile."""
    unique = list(dict.fromkeys(notes))
    return "\n\n".join([*cases, *(f"Note: {note}" for note in unique)])


def _time(ns: float) -> str:
    for unit, size in (("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.0f} ns"
