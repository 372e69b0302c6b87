"""What a replay leaves, and how the repetitions of one differ: the same for all models."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from kernelvault.replay import cpu_faults
from kernelvault.sandbox import Outcome
from kernelvault.v1 import compiler_pb2, profiler_pb2

# What memory holds before it is written: as floats NaN, as integers -1. Where blocks are sampled, zeros: what the
# others would have written is not there, and must not lead anywhere as an index.
POISON, NO_POISON = 0xFF, 0
OTHER_POISONS = (0x7E, 0xFE)
NOT_RUN = Outcome(exit_code=0, signal=None, timed_out=False, out_of_memory=False)


@dataclass
class Replay:
    """What a replay left. The descriptors are the caller's to close, see `close`."""

    outcome: Outcome
    # One for each repetition: a bundle of the results in order, contiguous. Empty after a fault and where blocks were
    # sampled.
    outputs: list[int] = field(default_factory=list)
    # The inputs' bundle after the operations of the first repetition.
    inputs_after: int | None = None
    findings: list[compiler_pb2.Finding] = field(default_factory=list)
    # One for each launch, in order; only where blocks were sampled.
    counters: list[profiler_pb2.Profile.Counters] = field(default_factory=list)
    # Results into whose buffers no launch wrote, directly or by way of a copy. Known of Triton kernels only.
    unwritten: list[int] = field(default_factory=list)
    # Why the candidate does not pass, if so.
    fault: cpu_faults.Fault | None = None

    def close(self) -> None:
        """Closes all descriptors."""
        for descriptor in [*self.outputs, *([] if self.inputs_after is None else [self.inputs_after])]:
            os.close(descriptor)
        self.outputs, self.inputs_after = [], None


def runs(repetitions: int, vary_memory: bool) -> list[tuple[int, bool]]:
    """The repetitions of a replay as (poison, backwards), see replaying.py."""
    if vary_memory:
        poisons = (POISON, *OTHER_POISONS)
        return [(poisons[i % len(poisons)], False) for i in range(repetitions)]
    # The second run takes the blocks in the other order: a result that depends on it is not deterministic.
    return [(POISON, i % 2 == 1) for i in range(repetitions)]
