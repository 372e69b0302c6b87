"""Candidates from files, and the actions that verify them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from google.protobuf.duration_pb2 import Duration

from kernelvault import digest, formats
from kernelvault.devices import TARGETS
from kernelvault.v1.compiler_pb2 import VerifyAction
from kernelvault.v1.kernel_pb2 import Candidate
from orchestrator.mistake import Mistake
from orchestrator.tasks import read_source

# Far above any server's limit, and within what a Duration holds.
_MOST_SECONDS = 1e9
_FORMATS = {
    "hip-abi": (Candidate.HIP, Candidate.HIP_ABI),
    "hip-torch": (Candidate.HIP, Candidate.HIP_TORCH),
    "hip-module": (Candidate.HIP, Candidate.HIP_MODULE),
    "triton": (Candidate.TRITON, Candidate.TRITON_MODULE),
}


def kind(name: str) -> tuple[Candidate.Language, Candidate.Format]:
    """The language and the format that a user means; raises Mistake."""
    if name not in _FORMATS:
        raise Mistake(f"unknown format {name!r}: known are {', '.join(_FORMATS)}")
    return _FORMATS[name]


def format_of(language: str, format_: str) -> str:
    """The format that `--language` and `--format` mean together, either of them empty; raises Mistake."""
    known = {"hip": "hip-abi", "triton": "triton"}
    if language and language not in known:
        raise Mistake(f"unknown language {language!r}: known are {', '.join(known)}")
    chosen = format_ or known[language or "hip"]
    written_in = Candidate.Language.Name(kind(chosen)[0]).lower()
    if language and language != written_in:
        raise Mistake(f"--format {chosen} is written in {written_in}, not in {language}: leave one of both out")
    return chosen


def name_of(format_: Candidate.Format) -> str:
    """A format as a user calls it."""
    return next(name for name, (_, known) in _FORMATS.items() if known == format_)


def targets(text: str) -> list[str]:
    """The targets of a comma-separated list; raises Mistake for an unknown one."""
    given = [target.strip() for target in text.split(",") if target.strip()]
    for target in given:
        if target not in TARGETS:
            raise Mistake(f"unknown target {target!r}: known are {', '.join(TARGETS)}")
    if not given:
        raise Mistake(f"name a target with --target: {', '.join(TARGETS)}")
    return given


def check_timeout(timeout_s: float) -> None:
    """Raises Mistake for what is no length of time."""
    if not 0 <= timeout_s < _MOST_SECONDS:
        raise Mistake(f"--timeout {timeout_s:g} is no time limit: give seconds, or 0 for the server's default")


def read(path: Path, *, format_: str | None, entry_point: str) -> Candidate:
    """The candidate in a file, its format found out unless given; raises Mistake if the file cannot be used."""
    source = read_source(path)
    language, found = kind(format_ or _format_of(path, source))
    return Candidate(
        language=language, format=found, sources=[digest.artifact(path.name, source)], entry_point=entry_point
    )


def named(candidate: Candidate, task: str) -> Candidate:
    """A copy with the name that it has as a candidate for `task`."""
    copy = Candidate()
    copy.CopyFrom(candidate)
    copy.name = digest.candidate_name(task, copy.language, copy.format, copy.entry_point, copy.sources)
    return copy


def action(candidate: Candidate, task: str, *, targets: Iterable[str], timeout_s: float = 0) -> VerifyAction:
    """What to ask the compiler about a candidate; `timeout_s` of 0 is the server's default."""
    made = VerifyAction(
        language=candidate.language,
        format=candidate.format,
        sources=candidate.sources,
        entry_point=candidate.entry_point,
        task=task,
        targets=targets,
    )
    if timeout_s:
        timeout = Duration()
        timeout.FromNanoseconds(int(timeout_s * 1e9))
        made.timeout.CopyFrom(timeout)
    return made


def _format_of(path: Path, source: bytes) -> str:
    if path.suffix == ".py":
        return name_of(formats.of_modules([source]))
    return "hip-torch" if b"PYBIND11_MODULE" in source or b"torch/extension.h" in source else "hip-abi"
