"""Checks requests of the generator and fills in what they leave open."""

from __future__ import annotations

import re
import uuid

from kernelvault import errors
from kernelvault.devices import TARGETS
from kernelvault.v1 import generator_pb2
from kernelvault.v1.kernel_pb2 import Candidate
from svc_generator.backends.base import FORMATS
from svc_generator.prompts.devices import DEFAULT_TARGET

_TASK = re.compile(r"tasks/[a-z0-9_-]{1,200}")
_MOST_CANDIDATES = 64
_MOST_ATTEMPTS = 64
_DEFAULT_FORMATS = {
    Candidate.LANGUAGE_UNSPECIFIED: Candidate.HIP_ABI,
    Candidate.HIP: Candidate.HIP_ABI,
    Candidate.TRITON: Candidate.TRITON_MODULE,
}


def complete(request: generator_pb2.GenerateCandidatesRequest) -> generator_pb2.GenerateCandidatesRequest:
    """A copy with the format, the language, the target and the count filled in; raises errors.InvalidArgument."""
    filled = generator_pb2.GenerateCandidatesRequest()
    filled.CopyFrom(request)
    if not _TASK.fullmatch(filled.task):
        raise errors.InvalidArgument("task", f"{filled.task[:80]!r} is not `tasks/{{task}}`")
    filled.candidate_count = _within("candidate_count", filled.candidate_count or 1, 1, _MOST_CANDIDATES)
    filled.target = filled.target or DEFAULT_TARGET
    if filled.target not in TARGETS:
        raise errors.InvalidArgument("target", f"{filled.target[:80]!r} is unknown; known are {', '.join(TARGETS)}")
    _choose_format(filled)
    _check_sampling(filled.sampling)
    _check_attempts(filled)
    if filled.request_id and not _is_uuid4(filled.request_id):
        raise errors.InvalidArgument("request_id", f"{filled.request_id[:80]!r} is not a UUID4")
    return filled


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


def _check_attempts(request: generator_pb2.GenerateCandidatesRequest) -> None:
    _within("attempts", len(request.attempts), 0, _MOST_ATTEMPTS)
    for number, attempt in enumerate(request.attempts):
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
