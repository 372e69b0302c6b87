"""What a run of a script left, read without belief: the script shared the process that wrote it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError

from kernelvault import errors
from kernelvault.replay.reference_job import read_child_file
from kernelvault.replay.triton import program as programs
from kernelvault.sandbox import Outcome
from kernelvault.v1 import compiler_pb2, triton_pb2

Report = compiler_pb2.ScriptReport
REPLY = "reply.json"
PROGRAM = "program"
# These are brought up to date while the script runs.
FINDINGS = "findings"
LAUNCHES = "launches"
_MAX_BYTES = 1 << 20
_MAX_TEXT = 2000
_MAX_NOTES = 16
_MAX_GROUPS = 4096
_STATUSES = {"device": Report.NEEDS_DEVICE}


@dataclasses.dataclass(frozen=True)
class Own:
    """A kernel that the script's own process compiled."""

    kernel: str
    # Why nobody else could.
    why: str
    # By target, of those for which it does not compile: the message and its place.
    faults: Mapping[str, tuple[str, str]]


@dataclasses.dataclass
class Reply:
    """How a run ended and what it found out."""

    status: Report.Status = Report.OK
    explanation: str = ""
    location: str = ""
    launches: int = 0
    # Of the recording: indices of variants of which one is enough; from -1 downwards those of `own`.
    groups: list[list[int]] = dataclasses.field(default_factory=list)
    own: list[Own] = dataclasses.field(default_factory=list)
    notes: list[str] = dataclasses.field(default_factory=list)
    program: triton_pb2.TritonProgram = dataclasses.field(default_factory=triton_pb2.TritonProgram)
    findings: list[compiler_pb2.Finding] = dataclasses.field(default_factory=list)


def read(folder: Path, sources: Path, outcome: Outcome, ending: tuple[Report.Status, str] | None) -> Reply:
    """The reply in `folder`, or what `ending` says of a process that left none. Raises errors.Internal.

    Files below `sources` are told by their names there.
    """
    data = read_child_file(folder / REPLY, _MAX_BYTES)
    findings = _findings(folder, f"{sources}/")
    if ending is not None:
        launches = _integer(read_child_file(folder / LAUNCHES, 32) or b"0")
        return Reply(ending[0], ending[1], launches=launches, findings=findings)
    if data is None:
        if outcome.exit_code == 0 or not outcome.stderr:
            return Reply(Report.FAILED, f"The script ends its process ({outcome.describe()}).")
        raise errors.Internal("SCRIPT_CHILD_FAILED", f"failed to run a script: {outcome.describe()}")
    try:
        reply = _parsed(json.loads(data.replace(f"{sources}/".encode(), b"")))
        reply.program = _program(folder)
        reply.findings = findings
        known = range(-len(reply.own), len(reply.program.variants))
        if any(index not in known for group in reply.groups for index in group):
            raise ValueError("a group names a variant that is not there")
    except programs.SourceError as error:
        return Reply(Report.FAILED, error.problem, f"{error.file}:{error.line}")
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        return Reply(Report.FAILED, f"The script leaves something that is no recording: {error}"[:_MAX_TEXT])
    return reply


def _parsed(given: Any) -> Reply:
    ended = given["ended"]
    reply = Reply(launches=int(given["launches"]))
    if ended:
        reply.status = _STATUSES.get(ended["kind"], Report.FAILED)
        reply.explanation = str(ended["message"])[:_MAX_TEXT]
        reply.location = f"{ended['file']}:{int(ended['line'])}"[:512] if ended["file"] else ""
    reply.notes = [str(note)[:_MAX_TEXT] for note in given["notes"][:_MAX_NOTES]]
    groups = given.get("groups", [])
    if len(groups) > _MAX_GROUPS:
        raise ValueError(f"{len(groups)} groups of variants are more than {_MAX_GROUPS}")
    reply.own = [_own(one) for one in given.get("own", [])[:_MAX_GROUPS]]
    reply.groups = [[int(index) for index in group] for group in groups if group]
    return reply


def _own(given: Any) -> Own:
    faults = {
        str(target): (str(fault[0])[:_MAX_TEXT], f"{fault[1]}:{int(fault[2])}"[:512] if fault[1] else "")
        for target, fault in given["faults"].items()
        if fault
    }
    return Own(str(given["kernel"])[:256], str(given["why"])[:_MAX_TEXT], faults)


def _program(folder: Path) -> triton_pb2.TritonProgram:
    """The checked program; raises programs.Malformed, which is a ValueError."""
    data = read_child_file(folder / PROGRAM, programs.MAX_BYTES + 1)
    return programs.read(data) if data else triton_pb2.TritonProgram()


def _findings(folder: Path, prefix: str) -> list[compiler_pb2.Finding]:
    """The findings that were noted so far, even if the process did not live to its end; one for each line and kind."""
    data = read_child_file(folder / FINDINGS, _MAX_BYTES) or b""
    try:
        noted = Report.FromString(data).findings
    except DecodeError:
        return []
    found: dict[tuple[object, ...], compiler_pb2.Finding] = {}
    for finding in noted:
        finding.location = finding.location.removeprefix(prefix)[:_MAX_TEXT]
        finding.message = finding.message[:_MAX_TEXT]
        found.setdefault((finding.kind, finding.location, finding.kernel, finding.buffer), finding)
    return list(found.values())


def _integer(data: bytes) -> int:
    return int(data) if data.strip().isdigit() else 0
