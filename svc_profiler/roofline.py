"""The time of a launch from what it was counted to do: an estimate for ranking kernels, not a measurement.

Every term is a number of operations over a published peak; the constants that are not published stand here with their
reason. Terms overlap as far as resident waves allow. Not modelled: caches other than by the bytes that must move,
hardware scheduling, clocks under load, waits within a wave.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from kernelvault.devices import Gpu
from kernelvault.replay import occupancy
from kernelvault.v1 import plan_pb2, profiler_pb2

Counters = profiler_pb2.Profile.Counters
KernelEstimate = profiler_pb2.Profile.KernelEstimate

# A stream of large copies reaches about four fifths of HBM's peak on these parts.
SUSTAINED_HBM = 0.8
# From one launch to the next in a stream, with hot caches: a few microseconds on every GPU.
LAUNCH_NS = 4_000.0
# From a load to its data in HBM, under load.
HBM_LATENCY_NS = 800.0
# Bytes that a lane has under way at once: a wave issues its next loads before it waits, as far as registers go.
MOST_BYTES_IN_FLIGHT = 64
# Resident waves a SIMD from which on one wave's waiting is another's working.
OVERLAPPING_WAVES = 4.0
# Of v_exp, v_rcp and the like: a quarter of the rate of an addition.
TRANSCENDENTAL_COST = 4
_LINE_BYTES = 128
_ATOMIC_BYTES = 4
# Types whose matrix operations run at the rate of another one.
_RATES = {"i8": "f8"}
_LOADS = ("global_load", "flat_load", "lds_load")


@dataclass(frozen=True, kw_only=True)
class Work:
    """One launch, and what was counted of it."""

    name: str
    resources: plan_pb2.Resources
    counters: Counters
    blocks: int
    # Of a block.
    threads: int
    dynamic_lds_bytes: int
    # The most that the launch can touch: the sizes of the buffers that it was given; 0: unknown.
    reachable_bytes: int = 0
    # Of these, buffers other than inputs: what atomic operations can aim at; 0: unknown.
    writable_bytes: int = 0


@dataclass(frozen=True, kw_only=True)
class Terms:
    """Nanoseconds that each resource of the device needs for the launch alone."""

    # Distinct bytes from HBM.
    hbm: float
    # All segments through L1 and L2.
    cache: float
    # Distinct bytes read, with no more bytes under way than the resident waves can ask for.
    latency: float
    matrix: float
    vector: float
    lds: float
    atomics: float

    def by_bound(self) -> dict[str, float]:
        """The terms by what they say of the kernel."""
        memory = max(self.hbm, self.cache, self.atomics)
        return {
            "memory": memory,
            "compute": max(self.matrix, self.vector),
            "lds": self.lds,
            "latency": self.latency if self.latency > memory else 0.0,
        }


def estimate(work: Work, gpu: Gpu) -> KernelEstimate:
    """The modelled time of one launch and what bounds it.

    time = launch + longest term + (sum of the others) * (1 - overlap), with overlap = (waves a SIMD - 1) / 3 between 0
    and 1: one wave alone waits for each of its steps, four hide each other's. `launch` bounds where it exceeds that.
    """
    fit = _occupancy(work, gpu)
    spread = _terms(work, gpu, fit).by_bound()
    bound = max(spread, key=lambda name: spread[name])
    others = sum(spread.values()) - spread[bound]
    if bound == "latency":  # it contains the memory term
        others -= spread["memory"]
    waves = _resident_waves(work, gpu, fit) / (gpu.compute_units * occupancy.SIMDS)
    overlap = min(1.0, max(0.0, (waves - 1) / (OVERLAPPING_WAVES - 1)))
    busy_ns = spread[bound] + others * (1 - overlap)
    return KernelEstimate(
        name=work.name,
        time_ns=LAUNCH_NS + busy_ns,
        bound="launch" if busy_ns < LAUNCH_NS else bound,
        counters=work.counters,
        occupancy_waves=fit.waves,
        occupancy_limit=fit.limit,
    )


def unique_bytes(work: Work) -> int:
    """Distinct bytes touched; where blocks were sampled the scaled count can exceed what there is."""
    counted = work.counters.unique_bytes
    return min(counted, work.reachable_bytes) if work.reachable_bytes else counted


def _occupancy(work: Work, gpu: Gpu) -> occupancy.Occupancy:
    resources = work.resources
    return occupancy.of(
        gpu.target,
        registers=math.ceil(resources.vgprs / 4) * 4 + resources.agprs,
        sgprs=resources.sgprs,
        lds_bytes=resources.lds_bytes + work.dynamic_lds_bytes,
        threads=work.threads,
    )


def _resident_waves(work: Work, gpu: Gpu, fit: occupancy.Occupancy) -> int:
    """Waves on the whole device at once: all of the grid, or as many as fit."""
    waves_a_block = math.ceil(work.threads / occupancy.WAVE_SIZE)
    return min(work.blocks, gpu.compute_units * max(1, fit.blocks)) * waves_a_block


def _terms(work: Work, gpu: Gpu, fit: occupancy.Occupancy) -> Terms:
    counters, resources = work.counters, work.resources
    unique, units = unique_bytes(work), gpu.compute_units
    # The last round of blocks leaves units idle: 305 blocks take as long as 608.
    busy = work.blocks / (math.ceil(work.blocks / units) * units)
    waves = _resident_waves(work, gpu, fit)
    simds = min(1.0, waves / (min(work.blocks, units) * occupancy.SIMDS))
    cache_rate = min(gpu.l1_bytes_per_s * busy, gpu.l2_bytes_per_s)
    in_flight = waves * occupancy.WAVE_SIZE * _bytes_in_flight(resources.instructions)
    moved = counters.global_read_bytes + counters.global_write_bytes
    read = unique * counters.global_read_bytes / moved if moved else 0.0
    return Terms(
        hbm=_ns(unique, gpu.hbm_bytes_per_s * SUSTAINED_HBM),
        cache=_ns(counters.global_transaction_bytes, cache_rate),
        latency=read / in_flight * HBM_LATENCY_NS,
        matrix=_matrix_ns(counters, resources.instructions, gpu) / (busy * simds),
        vector=_vector_ns(work, gpu) / (busy * simds),
        lds=_ns(_lds_bytes(counters, gpu), gpu.lds_bytes_per_s * busy),
        atomics=_atomics_ns(work, gpu),
    )


def _lds_bytes(counters: Counters, gpu: Gpu) -> float:
    """What LDS could move in the time that it takes; of lanes that update one word each takes a clock of its own."""
    plain = (counters.lds_read_bytes + counters.lds_write_bytes) * (1 + counters.lds_conflict_ratio)
    return plain + counters.lds_atomics * _ATOMIC_BYTES + counters.lds_atomic_repeats * gpu.lds_bytes_per_clock


def _atomics_ns(work: Work, gpu: Gpu) -> float:
    """One operation a channel and clock; those on one word wait for one another."""
    counters = work.counters
    spread = _ns(counters.atomics - counters.lds_atomics, _atomic_channels(work, gpu) * gpu.clock_hz)
    return max(spread, _ns(counters.hottest_atomic, gpu.clock_hz))


def _atomic_channels(work: Work, gpu: Gpu) -> int:
    """L2 channels that the launch's atomic operations can spread over: all on one line queue in one channel."""
    lines = math.ceil(work.writable_bytes / _LINE_BYTES)
    return min(gpu.l2_channels, lines) if lines else gpu.l2_channels


def _ns(amount: float, rate_per_s: float) -> float:
    return amount / rate_per_s * 1e9


def _matrix_ns(counters: Counters, instructions: Mapping[str, int], gpu: Gpu) -> float:
    """Time of the counted operations at the rates of their types.

    Where these were not counted, at the rates of the types in the code, each weighed by its instructions.
    """
    if counters.matrix_flops_by_type:
        return sum(
            _ns(n, gpu.matrix_flops[_rate(kind, instructions)]) for kind, n in counters.matrix_flops_by_type.items()
        )
    flops = counters.matrix_flops
    mix = {name.removeprefix("mfma_"): count for name, count in instructions.items() if name.startswith("mfma_")}
    if not flops:
        return 0.0
    total = sum(mix.values())
    if not total:
        return _ns(flops, gpu.matrix_flops["f16"])
    return sum(_ns(flops * count / total, gpu.matrix_flops[kind]) for kind, count in mix.items())


def _rate(kind: str, instructions: Mapping[str, int]) -> str:
    """The type at whose rate a type's operations run; Triton's compiler may round factors of 32 bits to xf32."""
    if kind == "f32" and "mfma_xf32" in instructions and "mfma_f32" not in instructions:
        return "xf32"
    return _RATES.get(kind, kind)


def vector_instructions(work: Work) -> float:
    """Lane instructions of the vector units, transcendental ones counted four times.

    The code object tells how many there are, the counters how often the loads among them ran: bytes read / bytes that
    one pass over the code reads. A loop's arithmetic is taken to run as often as its loads do; arithmetic in a loop
    without loads is counted once.
    """
    threads = work.blocks * work.threads
    instructions = work.resources.instructions
    once = sum(count * _cost(name) for name, count in instructions.items())
    return once * threads * _passes(work, threads)


def _cost(name: str) -> int:
    if name == "transcendental":
        return TRANSCENDENTAL_COST
    return 1 if name == "valu" or name.startswith(("fma", "float")) else 0


def _passes(work: Work, threads: int) -> float:
    """How often the code's loads ran, at least once: the most of global memory's and LDS's."""
    sizes = {name: count * _bytes_of(name) * threads for name, count in work.resources.instructions.items()}
    lds = sum(size for name, size in sizes.items() if name.startswith("lds"))
    memory = sum(sizes.values()) - lds
    counted = ((work.counters.global_read_bytes, memory), (work.counters.lds_read_bytes, lds))
    return max([1.0, *(read / once for read, once in counted if once)])


def _bytes_of(name: str) -> int:
    """Bytes a lane of a load's class; 0 for all else."""
    kind, _, bits = name.rpartition("_b")
    return int(bits) // 8 if kind in _LOADS and bits.isdigit() else 0


def _bytes_in_flight(instructions: Mapping[str, int]) -> int:
    loads = sum(count * _bytes_of(name) for name, count in instructions.items() if not name.startswith("lds"))
    return min(MOST_BYTES_IN_FLIGHT, max(4, loads))


def _vector_ns(work: Work, gpu: Gpu) -> float:
    """Of the counted operations, whose waves take as long with few lanes as with all; at least that of the code."""
    counters = work.counters
    counted = (
        _ns(counters.vector_flops - counters.double_flops, gpu.vector_flops["f32"])
        + _ns(counters.double_flops, gpu.vector_flops["f64"])
        + _ns(counters.special_operations * TRANSCENDENTAL_COST, gpu.lanes_per_s)
    )
    return max(counted / (counters.active_lanes or 1.0), _ns(vector_instructions(work), gpu.lanes_per_s))
