"""What an audit line says, and where it goes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.message import Message

from kernelvault import digest
from kernelvault.access.audit import AuditLog, named
from kernelvault.v1 import artifact_pb2, compiler_pb2, corpus_pb2, generator_pb2, kernel_pb2, plan_pb2, storage_pb2

Report = compiler_pb2.VerificationReport
HASH = "ab" * 32
DIGEST = artifact_pb2.Digest(hash=HASH, size_bytes=3)
SOURCE = artifact_pb2.Artifact(path="k.hip", contents=b"source")
SOURCE_HASH = digest.of_bytes(b"source").hash


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (storage_pb2.WriteBlobRequest(digest=DIGEST, data=b"bytes"), {"digest": HASH}),
        (
            compiler_pb2.VerifyCandidateRequest(
                action=compiler_pb2.VerifyAction(task="tasks/a", sources=[SOURCE], entry_point="run", salt="grain")
            ),
            {"action.sources[0]": f"k.hip@{SOURCE_HASH}", "action.task": "tasks/a"},
        ),
        (
            compiler_pb2.VerifyCandidateResponse(
                report=Report(
                    action_digest=DIGEST,
                    verdict=Report.PASSED,
                    explanation="words",
                    task="tasks/a",
                    plans=[plan_pb2.LaunchPlan(case_id="one")],
                )
            ),
            {"report.action_digest": HASH, "report.verdict": "PASSED", "report.task": "tasks/a"},
        ),
        (compiler_pb2.VerifyCandidateResponse(stage=compiler_pb2.VerifyCandidateResponse.QUEUED), {}),
        (
            generator_pb2.GenerateCandidatesRequest(task="tasks/a", model="models/m", request_id="r"),
            {"task": "tasks/a", "model": "models/m", "request_id": "r"},
        ),
        (
            corpus_pb2.CreateSampleRequest(
                sample=corpus_pb2.Sample(
                    task="tasks/a",
                    candidate=kernel_pb2.Candidate(name="tasks/a/candidates/c", sources=[SOURCE]),
                    report=Report(verdict=Report.MISMATCHED),
                    lineage=corpus_pb2.Lineage(run="night"),
                )
            ),
            {
                "sample.task": "tasks/a",
                "sample.candidate.name": "tasks/a/candidates/c",
                "sample.candidate.sources[0]": f"k.hip@{SOURCE_HASH}",
                "sample.report.verdict": "MISMATCHED",
                "sample.lineage.run": "night",
            },
        ),
        (
            storage_pb2.UpdateActionResultRequest(
                action_result=storage_pb2.ActionResult(action_digest=DIGEST, report=Report(verdict=Report.PASSED))
            ),
            {"action_result.action_digest": HASH, "action_result.report.verdict": "PASSED"},
        ),
    ],
)
def test_a_message_is_told_by_its_names(message: Message, said: dict[str, Any]) -> None:
    """Names, digests and verdicts, never contents and explanations."""
    assert named(message) == said


def test_a_source_is_told_by_what_was_sent() -> None:
    """Not by the digest that its sender wrote beside it."""
    lying = artifact_pb2.Artifact(path="k.hip", contents=b"source", digest=DIGEST)

    assert named(compiler_pb2.VerifyAction(sources=[lying])) == {"sources[0]": f"k.hip@{SOURCE_HASH}"}


def test_a_message_cannot_make_a_line_long() -> None:
    """Neither by long names nor by many."""
    many = [artifact_pb2.Artifact(path="p" * 10_000, digest=artifact_pb2.Digest(hash="h" * 10_000))] * 1000
    request = compiler_pb2.VerifyCandidateRequest(action=compiler_pb2.VerifyAction(sources=many, task="t" * 10_000))

    assert len(json.dumps(named(request))) < 10_000


def test_a_name_cannot_make_a_line_of_its_own(tmp_path: Path) -> None:
    """A line break in a name is escaped."""
    log = AuditLog.to(tmp_path / "audit")
    with log.entry(method="/m", peer="p", request_id="r") as entry:
        entry.request(generator_pb2.GenerateCandidatesRequest(task='a\n{"event": "audit", "who": "root"}'))

    assert len((tmp_path / "audit").read_text().splitlines()) == 1


def test_a_moved_file_is_begun_anew(tmp_path: Path) -> None:
    """logrotate may move it away at any time; no line is lost."""
    path = tmp_path / "audit"
    log = AuditLog.to(path)
    for number in ("1", "2", "3"):
        with log.entry(method=number, peer="p", request_id="r"):
            pass
        path.rename(tmp_path / number)

    assert [json.loads((tmp_path / number).read_text())["method"] for number in "123"] == ["1", "2", "3"]


def test_the_file_is_its_owners(tmp_path: Path) -> None:
    """Who did what is nobody else's business."""
    AuditLog.to(tmp_path / "audit")

    assert (tmp_path / "audit").stat().st_mode & 0o777 == 0o600


def test_a_line_that_the_file_does_not_take_goes_to_the_log(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A full disk loses no line."""
    full = tmp_path / "full"
    full.symlink_to("/dev/full")
    log = AuditLog.to(full)
    with log.entry(method="/m", peer="p", request_id="lost"):
        pass

    assert '"request_id": "lost"' in capsys.readouterr().err


def test_a_call_that_ends_early_is_on_record(tmp_path: Path) -> None:
    """Whatever raises."""
    log = AuditLog.to(tmp_path / "audit")
    with pytest.raises(KeyboardInterrupt), log.entry(method="/m", peer="p", request_id="r"):
        raise KeyboardInterrupt

    assert json.loads((tmp_path / "audit").read_text())["code"] == "CANCELLED"
