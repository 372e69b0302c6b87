"""Checks requests of the generator and fills in what they leave open."""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence

from kernelvault import digest, errors
from kernelvault.devices import TARGETS
from kernelvault.v1 import generator_pb2
from kernelvault.v1.compiler_pb2 import VerificationReport
from kernelvault.v1.kernel_pb2 import Candidate, SeedKernel
from svc_generator.backends.base import FORMATS
from svc_generator.prompts.devices import DEFAULT_TARGET

_TASK = re.compile(r"tasks/[a-z0-9_-]{1,200}")
_MOST_CANDIDATES = 64
_MOST_ATTEMPTS = 64
_MOST_SEED_SOURCES = 16
_DEFAULT_FORMATS = {
    Candidate.LANGUAGE_UNSPECIFIED: Candidate.HIP_ABI,
    Candidate.HIP: Candidate.HIP_ABI,
    Candidate.TRITON: Candidate.TRITON_MODULE,
}


def complete(request: generator_pb2.GenerateCandidatesRequest) -> generator_pb2.GenerateCandidatesRequest:
    """A copy with the format, the language, the target and the count filled in; raises errors.InvalidArgument."""
    filled = generator_pb2.GenerateCandidatesRequest()
    filled.CopyFrom(request)
    _check_task(filled.task)
    filled.candidate_count = _within("candidate_count", filled.candidate_count or 1, 1, _MOST_CANDIDATES)
    filled.target = _target(filled.target)
    _choose_format(filled)
    _check_sampling(filled.sampling)
    _check_attempts(filled.attempts)
    if filled.HasField("seed_kernel"):
        _complete_seed(filled.seed_kernel)
    if filled.HasField("optimization"):
        _complete_optimization(filled)
    _check_request_id(filled.request_id)
    return filled


def complete_reflection(request: generator_pb2.ReflectOnAttemptRequest) -> generator_pb2.ReflectOnAttemptRequest:
    """A copy with the target filled in; raises errors.InvalidArgument."""
    filled = generator_pb2.ReflectOnAttemptRequest()
    filled.CopyFrom(request)
    _check_task(filled.task)
    filled.target = _target(filled.target)
    _check_sampling(filled.sampling)
    _check_attempts(filled.attempts)
    if not filled.attempts:
        raise errors.InvalidArgument("attempts", "is empty; send the attempt to reflect on, after the earlier ones")
    field, last = f"attempts[{len(filled.attempts) - 1}]", filled.attempts[-1]
    if last.report.verdict == VerificationReport.VERDICT_UNSPECIFIED:
        raise errors.InvalidArgument(f"{field}.report.verdict", "is not set; reflect on what was verified")
    if last.candidate.format not in FORMATS:
        raise errors.InvalidArgument(f"{field}.candidate.format", f"{last.candidate.format} is no known format")
    _check_request_id(filled.request_id)
    return filled


def _check_task(name: str) -> None:
    if not _TASK.fullmatch(name):
        raise errors.InvalidArgument("task", f"{name[:80]!r} is not `tasks/{{task}}`")


def _target(name: str) -> str:
    if name and name not in TARGETS:
        raise errors.InvalidArgument("target", f"{name[:80]!r} is unknown; known are {', '.join(TARGETS)}")
    return name or DEFAULT_TARGET


def _check_request_id(given: str) -> None:
    if given and not _is_uuid4(given):
        raise errors.InvalidArgument("request_id", f"{given[:80]!r} is not a UUID4")


def _complete_seed(seed: SeedKernel) -> None:
    if seed.dialect not in SeedKernel.Dialect.values()[1:]:
        known = ", ".join(SeedKernel.Dialect.keys()[1:])
        raise errors.InvalidArgument("seed_kernel.dialect", f"{seed.dialect} is none of {known}")
    _within("seed_kernel.sources", len(seed.sources), 1, _MOST_SEED_SOURCES)
    for number, source in enumerate(seed.sources):
        source.CopyFrom(digest.check_artifact(source, f"seed_kernel.sources[{number}]"))


def _complete_optimization(request: generator_pb2.GenerateCandidatesRequest) -> None:
    if request.HasField("seed_kernel"):
        raise errors.InvalidArgument("optimization", "is set together with `seed_kernel`; leave one of both out")
    field, baseline = "optimization.baseline", request.optimization.baseline
    _within(f"{field}.candidate.sources", len(baseline.candidate.sources), 1, _MOST_SEED_SOURCES)
    for number, source in enumerate(baseline.candidate.sources):
        source.CopyFrom(digest.check_artifact(source, f"{field}.candidate.sources[{number}]"))
    if baseline.candidate.format != request.format:
        raise errors.InvalidArgument(f"{field}.candidate.format", "is another one than `format`")
    if baseline.report.verdict != VerificationReport.PASSED:
        raise errors.InvalidArgument(f"{field}.report.verdict", "is not PASSED; only a right kernel is made faster")
    if not request.optimization.HasField("kernel"):
        return
    if request.language != Candidate.HIP:
        raise errors.InvalidArgument("optimization.kernel", "is a function of a HIP source; leave it out for Triton")
    for name in ("name", "text"):
        if not getattr(request.optimization.kernel, name):
            raise errors.InvalidArgument(f"optimization.kernel.{name}", "is empty; Compiler.ExtractKernel gives it")


def _choose_format(request: generator_pb2.GenerateCandidatesRequest) -> None:
    request.format = request.format or _DEFAULT_FORMATS.get(request.language, Candidate.FORMAT_UNSPECIFIED)
    if request.format not in FORMATS:
        raise errors.InvalidArgument("format", f"{request.format} is no known format")
    language = FORMATS[request.format]
    if request.language not in (Candidate.LANGUAGE_UNSPECIFIED, language):
        names = Candidate.Format.Name(request.format), Candidate.Language.Name(language)
        raise errors.InvalidArgument(
            "format", f"{names[0]} is written in {names[1]}; leave `language` out or make it match"
        )
    request.language = language


def _check_sampling(sampling: generator_pb2.GenerateCandidatesRequest.Sampling) -> None:
    _within("sampling.temperature", sampling.temperature, 0, 2)
    _within("sampling.top_p", sampling.top_p, 0, 1)
    _within("sampling.max_output_tokens", sampling.max_output_tokens, 0, 1 << 20)
    _within("sampling.seed", sampling.seed, 0, (1 << 62) - 1)


def _check_attempts(attempts: Sequence[generator_pb2.Attempt]) -> None:
    _within("attempts", len(attempts), 0, _MOST_ATTEMPTS)
    for number, attempt in enumerate(attempts):
        if not attempt.candidate.sources:
            raise errors.InvalidArgument(f"attempts[{number}].candidate", "has no sources")


def _within(field: str, value: float, least: float, most: float) -> int:
    if not least <= value <= most:
        raise errors.InvalidArgument(field, f"{value:g} is outside {least:g} to {most:g}")
    return int(value)


def _is_uuid4(text: str) -> bool:
    try:
        return uuid.UUID(text).version == 4
    except ValueError:
        return False
