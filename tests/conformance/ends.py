"""How a program may end without outputs, and what it must tell its author then."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from kernelvault.v1 import compiler_pb2, plan_pb2

Finding = compiler_pb2.Finding
Verdict = compiler_pb2.VerificationReport.Verdict


@dataclasses.dataclass(frozen=True)
class NeedsDevice:
    """The program is NEEDS_DEVICE, and the explanation holds these words."""

    words: str


@dataclasses.dataclass(frozen=True)
class Refuses:
    """The program ends with this verdict (by name), and the explanation holds these words."""

    verdict: str
    words: str


@dataclasses.dataclass(frozen=True)
class Unsafe:
    """The checker finds this: words of the findings' messages, which are on lines marked `// here`.

    Each finding of a replay tells kernel, thread and line, and all but those of barriers and host pointers a buffer.
    Where no line is marked, the caller finds it, who has no thread.
    What the recorder finds before anything runs has a kernel and nothing else of these.
    """

    kind: str
    words: tuple[str, ...] = ()
    # Kinds of findings that may be there besides.
    also: tuple[str, ...] = ()
    # Of one of the findings, where they are told: the kernel's name without its arguments, the buffer's or the array's.
    kernel: str = ""
    buffer: str = ""
    block: tuple[int, int, int] | None = None
    thread: tuple[int, int, int] | None = None


End = NeedsDevice | Refuses | Unsafe


def check_end(
    source: Path,
    expected: End,
    verdict: compiler_pb2.VerificationReport.Verdict,
    explanation: str,
    findings: list[compiler_pb2.Finding],
    *,
    replayed: bool,
) -> None:
    """Fails where a program ends in another way; `replayed`: its kernels ran."""
    name = Verdict.Name(verdict)
    if isinstance(expected, NeedsDevice):
        expected = Refuses("NEEDS_DEVICE", expected.words)
    if isinstance(expected, Refuses):
        assert (name, expected.words in explanation) == (expected.verdict, True), (name, explanation)
        return
    assert name == "UNSAFE", (name, explanation)
    kinds = {Finding.Kind.Name(finding.kind) for finding in findings}
    assert expected.kind in kinds and kinds <= {expected.kind, *expected.also}, findings
    for word in expected.words:
        assert any(word in finding.message for finding in findings), (word, findings)
    assert any(_is_told(expected, finding) for finding in findings), (expected, findings)
    if replayed:
        _check_places(source, findings)


def _is_told(expected: Unsafe, finding: compiler_pb2.Finding) -> bool:
    """Whether a finding is of the kind that is expected, and in the place."""
    return (
        Finding.Kind.Name(finding.kind) == expected.kind
        and expected.kernel in ("", finding.kernel.partition("(")[0])
        and expected.buffer in ("", finding.buffer)
        and expected.block in (None, _extent(finding.block))
        and expected.thread in (None, _extent(finding.thread))
    )


def _extent(extent: plan_pb2.Extent) -> tuple[int, int, int]:
    return extent.x, extent.y, extent.z


def _check_places(source: Path, findings: list[compiler_pb2.Finding]) -> None:
    """Fails where a finding lacks what its author must know, or is on a line that is not marked."""
    marked = {n for n, line in enumerate(source.read_text().splitlines(), 1) if "// here" in line}
    for finding in findings:
        if not marked:  # what the caller reads is on no line
            assert finding.kernel and finding.buffer and not finding.location, finding
            continue
        assert finding.kernel and finding.HasField("block") and finding.HasField("thread"), finding
        assert finding.buffer or finding.kind in (Finding.DIVERGENT_BARRIER, Finding.HOST_POINTER), finding
        assert finding.location in {f"{source.name}:{n}" for n in marked}, (marked, finding)
