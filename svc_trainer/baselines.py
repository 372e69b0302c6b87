"""What each sample of a snapshot is measured against.

The baseline of a sample is the kernel that its run made faster, if it is of such a run, else its parent, if that one
PASSED and was measured alike (same device, same method); else the first sample of its task in the snapshot that PASSED
and was measured alike. A sample may be its own baseline.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Iterable
from typing import NamedTuple

from kernelvault.v1 import compiler_pb2, corpus_pb2
from svc_trainer.corpus import Corpus

_PASSED = compiler_pb2.VerificationReport.PASSED


class Timed(NamedTuple):
    """What is remembered of a sample that PASSED and was measured."""

    task: str
    origin: str
    device: str
    method: str
    time_ns: float
    created_ns: int

    def like(self, other: Timed) -> bool:
        """Whether the two times may be compared."""
        return self[:1] + self[2:4] == other[:1] + other[2:4]


class Baselines:
    """Finds the baseline of each sample. Holds some numbers for every PASSED sample, and the baselines' sources."""

    def __init__(self) -> None:
        self._timed: dict[str, Timed] = {}
        self._baseline: dict[str, str] = {}
        self._sources: dict[str, bytes] = {}

    @classmethod
    async def of(cls, corpus: Corpus, snapshot: str) -> Baselines:
        """Reads the snapshot twice: first for the times, then for the sources of those that are baselines."""
        found = cls()
        origins = set()
        async for sample in corpus.snapshot(snapshot):
            found._remember(sample)
            origins.add(_origin(sample) if sample.report.verdict == _PASSED else "")
        own = set(found._timed)
        # Origins that the snapshot's filter left out.
        strangers = [origin async for origin in _fetched(corpus, origins - own - {""})]
        for sample in strangers:
            found._remember(sample)
        found._choose(own)
        needed = set(found._baseline.values())
        for sample in strangers:
            found._keep_source(sample, needed)
        async for sample in corpus.snapshot(snapshot):
            found._keep_source(sample, needed)
        return found

    def of_sample(self, name: str) -> str:
        """The name of a sample's baseline; empty: it has none."""
        return self._baseline.get(name, "")

    def speedup(self, name: str) -> float | None:
        """The baseline's time / the sample's; None where either is unknown."""
        baseline = self._baseline.get(name)
        return self._timed[baseline].time_ns / self._timed[name].time_ns if baseline else None

    def source(self, baseline: str) -> str:
        """The source of a sample that is a baseline."""
        return zlib.decompress(self._sources[baseline]).decode()

    def _remember(self, sample: corpus_pb2.Sample) -> None:
        profile = sample.profile
        if sample.report.verdict != _PASSED or not 0 < profile.time_ns < float("inf"):
            return
        created_ns = sample.create_time.ToNanoseconds()
        self._timed[sample.name] = Timed(
            sample.task, _origin(sample), profile.device, profile.method_label, profile.time_ns, created_ns
        )

    def _choose(self, names: Iterable[str]) -> None:
        first: dict[tuple[str, str, str], str] = {}
        order = sorted(names, key=lambda name: (self._timed[name].created_ns, name))
        for name in order:
            timed = self._timed[name]
            earliest = first.setdefault((timed.task, timed.device, timed.method), name)
            origin = self._timed.get(timed.origin)
            self._baseline[name] = timed.origin if origin and origin.like(timed) else earliest

    def _keep_source(self, sample: corpus_pb2.Sample, needed: set[str]) -> None:
        if sample.name in needed:
            self._sources[sample.name] = zlib.compress(source_of(sample).encode())


def _origin(sample: corpus_pb2.Sample) -> str:
    return sample.lineage.baseline or sample.lineage.parent


def source_of(sample: corpus_pb2.Sample) -> str:
    """The text of all sources of a sample."""
    return "\n".join(source.contents.decode("utf-8", "replace") for source in sample.candidate.sources)


async def _fetched(corpus: Corpus, names: Iterable[str]) -> AsyncIterator[corpus_pb2.Sample]:
    for name in sorted(names):
        sample = await corpus.sample(name)
        if sample is not None:
            sample.report.ClearField("plans")
            yield sample
