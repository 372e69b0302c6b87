"""A kernel of the user's that a run makes faster."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from kernelvault import similarity
from kernelvault.v1.kernel_pb2 import Candidate
from orchestrator import candidates
from orchestrator.mistake import Mistake


@dataclasses.dataclass(frozen=True, kw_only=True)
class Baseline:
    """The kernel as it is, and the one function of it that is rewritten; the whole source where `kernel` is empty."""

    candidate: Candidate
    kernel: str = ""

    def describe(self) -> str:
        """One line that says which kernel it is, to people and to programs."""
        [source] = self.candidate.sources
        return f"{f'{self.kernel} in ' * bool(self.kernel)}{source.path} ({source.digest.hash[:12]})"

    def distance(self, candidate: Candidate) -> float:
        """How far a candidate is from it, in [0, 1]; see kernelvault.similarity."""
        return similarity.distance(_tokens(candidate), _tokens(self.candidate))


def chosen(path: Path | None, kernel: str, format_: str) -> Baseline | None:
    """What `--optimize` and `--kernel` mean together; raises Mistake."""
    if path is None:
        if kernel:
            raise Mistake("--kernel is of a file that is made faster: give --optimize too")
        return None
    candidate = candidates.read(path, format_=format_ or None, entry_point="")
    if kernel and candidate.language != Candidate.HIP:
        raise Mistake("--kernel names a `__global__` function of a HIP source: leave it out for Triton")
    return Baseline(candidate=candidate, kernel=kernel)


def _tokens(candidate: Candidate) -> list[str]:
    python = candidate.language == Candidate.TRITON
    text = "\n".join(source.contents.decode(errors="replace") for source in candidate.sources)
    return similarity.tokens(text, python=python)
