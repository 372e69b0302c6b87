"""What a backend is: it writes candidates for a task, by rules or by asking a model."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from kernelvault import errors
from kernelvault.v1 import artifact_pb2, generator_pb2, kernel_pb2

FORMATS = {
    kernel_pb2.Candidate.HIP_ABI: kernel_pb2.Candidate.HIP,
    kernel_pb2.Candidate.HIP_TORCH: kernel_pb2.Candidate.HIP,
    kernel_pb2.Candidate.TRITON_MODULE: kernel_pb2.Candidate.TRITON,
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Completion:
    """One sample of a backend: the sources of a candidate, or `error` where there are none."""

    sources: Sequence[artifact_pb2.Artifact] = ()
    format: kernel_pb2.Candidate.Format = kernel_pb2.Candidate.HIP_ABI
    # Empty: the format's default.
    entry_point: str = ""
    # The idea in words.
    rationale: str = ""
    seed: int = 0
    # The number of the sample in the call, from 0 on.
    sample_index: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    # What was asked and what came back, word for word. Empty for a backend that asks nobody.
    prompt: bytes = b""
    raw: bytes = b""
    # Why this one sample holds no candidate.
    error: errors.Error | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Thought:
    """What a model says of an attempt; what was asked and what came back, word for word."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    prompt: bytes
    raw: bytes


class Backend(Protocol):
    """Writes candidates.

    `generate` yields `request.candidate_count` completions (fewer where there are no more ideas) in order of
    completion, and leaves out the sample indices in `done`. It raises errors.Error where the whole call cannot
    succeed: FailedPrecondition (`NOT_LOWERABLE`), InvalidArgument, ResourceExhausted, Unavailable. Closing the
    iterator cancels its work.
    """

    name: str

    def models(self) -> list[str]:
        """The models that can be asked for, as `models/{model}`."""
        ...

    def generate(
        self,
        task: kernel_pb2.Task,
        request: generator_pb2.GenerateCandidatesRequest,
        *,
        done: frozenset[int] = frozenset(),
    ) -> AsyncIterator[Completion]:
        """Writes candidates for `task`."""
        ...

    async def functional(self, request: generator_pb2.GenerateFunctionalRequest) -> bytes:
        """The Python source of the task's functional form; raises FailedPrecondition (`NO_MODEL`) without a model."""
        ...

    async def reflect(self, task: kernel_pb2.Task, request: generator_pb2.ReflectOnAttemptRequest) -> Thought:
        """Why the last attempt failed and what to change.

        Raises FailedPrecondition (`NO_MODEL` without a model, `PARSE_FAILED` for an empty answer), and as `generate`.
        """
        ...
