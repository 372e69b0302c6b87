"""What a run asks the generator: reflections on attempts that failed, and the next candidate."""

from __future__ import annotations

import contextlib
import hashlib
import uuid
from collections.abc import Mapping, Sequence

from google.protobuf.message import Message

from kernelvault import digest, errors
from kernelvault.blobs import Blobs
from kernelvault.services import Client
from kernelvault.v1 import generator_pb2
from kernelvault.v1.compiler_pb2 import VerificationReport as Report
from kernelvault.v1.corpus_pb2 import Sample
from kernelvault.v1.kernel_pb2 import Candidate, Reflection
from orchestrator import candidates
from orchestrator.options import Options

# The generator's limit for a request.
_MOST_ATTEMPTS = 64
_MOST_BYTES = digest.INLINE_LIMIT_BYTES
# NEEDS_DEVICE is no failure, and there is nobody to learn from it.
_FAILED = {
    Report.REJECTED,
    Report.PARSE_FAILED,
    Report.COMPILE_FAILED,
    Report.CRASHED,
    Report.TIMED_OUT,
    Report.MISMATCHED,
    Report.UNSAFE,
}
Reflections = Mapping[str, Reflection]


class Author:
    """Asks the generator for one run. Equal questions in a run have equal IDs: after a crash it answers the same."""

    def __init__(self, client: Client, options: Options, *, run: str, blobs: Blobs) -> None:
        self._client = client
        self._options = options
        self._run = run
        self._blobs = blobs
        self._has_opinions = options.reflect

    def should_reflect(self, samples: Sequence[Sample], reflections: Reflections) -> bool:
        """Whether the last sample failed and nobody has said why."""
        last = samples[-1] if samples else None
        return (
            self._has_opinions and last is not None and last.report.verdict in _FAILED and last.name not in reflections
        )

    async def reflect(self, samples: Sequence[Sample], reflections: Reflections) -> Reflection | None:
        """What the model says of the last sample, empty if it said nothing; None where the author is no model.

        Raises errors.ResourceExhausted, errors.FailedPrecondition as the generator does.
        """
        request = generator_pb2.ReflectOnAttemptRequest(
            task=samples[-1].task,
            model=self._options.model_name,
            attempts=_attempts(samples, reflections),
            sampling={"seed": len(samples)},
            target=self._options.targets[0],
        )
        request.request_id = self._id(request)
        try:
            return await self._client.reflect(request)
        except errors.FailedPrecondition as error:
            if error.reason == "PARSE_FAILED":
                return Reflection()
            if error.reason != "NO_MODEL":
                raise
            self._has_opinions = False
            return None

    def optimization(self, baseline: Sample) -> generator_pb2.Optimization:
        """What the generator is told of a kernel that shall be faster."""
        return generator_pb2.Optimization(baseline=_attempt(baseline, None))

    async def write(
        self,
        task: str,
        samples: Sequence[Sample],
        reflections: Reflections,
        optimization: generator_pb2.Optimization | None = None,
    ) -> generator_pb2.GenerateCandidatesResponse | None:
        """One candidate; None where the generator has no more ideas."""
        language, format_ = candidates.kind(self._options.format)
        request = generator_pb2.GenerateCandidatesRequest(
            task=task,
            model=self._options.model_name,
            language=language,
            format=format_,
            candidate_count=1,
            attempts=_attempts(samples, reflections),
            target=self._options.targets[0],
            # A model that wrote the same as before would else be asked the same again, for ever.
            sampling={"seed": len(samples)},
            seed_kernel=self._options.seed,
            optimization=optimization,
        )
        request.request_id = self._id(request)
        async with contextlib.aclosing(self._client.generate(request)) as responses:
            answers = [response async for response in responses]
        return answers[0] if answers else None

    async def unusable(
        self, task: str, response: generator_pb2.GenerateCandidatesResponse, why: str
    ) -> tuple[Candidate, Report]:
        """A completion that holds no kernel that can be used, kept as it came: the corpus learns from it too."""
        text = why.encode()
        if response.HasField("completion_digest") and 0 < response.completion_digest.size_bytes <= _MOST_BYTES:
            text = (await self._blobs.get(response.completion_digest)).read_bytes()
        language, format_ = candidates.kind(self._options.format)
        source = digest.artifact("completion.txt", text)
        candidate = Candidate(
            name=digest.candidate_name(task, language, format_, "", [source]),
            language=language,
            format=format_,
            sources=[source],
            generation=Candidate.Generation(
                model=self._options.model_name, completion_digest=response.completion_digest
            ),
        )
        report = Report(
            action_digest=source.digest,
            verdict=Report.PARSE_FAILED,
            fault_owner=Report.CANDIDATE,
            explanation=why,
        )
        return candidate, report

    def _id(self, request: Message) -> str:
        asked = hashlib.sha256(self._run.encode() + b"\0" + digest.of_message(request).hash.encode())
        return str(uuid.UUID(bytes=asked.digest()[:16], version=4))


def _attempts(samples: Sequence[Sample], reflections: Reflections) -> list[generator_pb2.Attempt]:
    return [_attempt(sample, reflections.get(sample.name)) for sample in _tellable(samples)]


def _tellable(samples: Sequence[Sample]) -> list[Sample]:
    """As many as a request may have: the newest ones, and the fastest that passed."""
    newest = list(samples[-_MOST_ATTEMPTS:])
    passed = [sample for sample in samples if sample.report.verdict == Report.PASSED]
    if not passed:
        return newest
    best = min(passed, key=lambda sample: sample.profile.time_ns or float("inf"))
    return newest if best in newest else [best, *newest[1:]]


def _attempt(sample: Sample, reflection: Reflection | None) -> generator_pb2.Attempt:
    attempt = generator_pb2.Attempt(candidate=sample.candidate, report=sample.report)
    if sample.HasField("profile"):
        attempt.profile.CopyFrom(sample.profile)
    if reflection is not None and reflection.text:
        attempt.reflection.CopyFrom(reflection)
    attempt.report.ClearField("plans")
    return attempt
