"""What is kept of a compiler's stderr."""

from __future__ import annotations

import json
from pathlib import Path

from kernelvault.v1 import compiler_pb2
from svc_compiler.hip import diagnostics

Diagnostic = compiler_pb2.Diagnostic
SOURCES = Path("/job/candidate")


def _result(level: str, message: str, file: str = "/job/candidate/main.hip", line: int = 3) -> dict[str, object]:
    region = {"startLine": line, "startColumn": 7}
    place = {"physicalLocation": {"artifactLocation": {"uri": f"file://{file}"}, "region": region}}
    return {"level": level, "message": {"text": message}, "locations": [place]}


def _sarif(*results: dict[str, object]) -> str:
    return json.dumps({"$schema": "sarif", "runs": [{"results": list(results)}]}, separators=(",", ":"))


def test_place_and_text_of_an_error() -> None:
    """A file of the candidate is named relative to its sources."""
    [found] = diagnostics.parse(_sarif(_result("error", "no such thing")) + "\n1 error generated.\n", SOURCES)
    assert found == Diagnostic(level=Diagnostic.ERROR, file="main.hip", line=3, column=7, message="no such thing")


def test_headers_are_named_as_they_are_included() -> None:
    """A header's path on this machine means nothing to the author."""
    [found] = diagnostics.parse(_sarif(_result("error", "bad", "/opt/x/usr/include/hip/hip_fp16.h")), SOURCES)
    assert found.file == "hip/hip_fp16.h"


def test_linker_errors_outside_sarif() -> None:
    """lld writes plain text: the symbol and who wants it are kept, the driver's echo is not."""
    text = _sarif() + (
        "\nlld: error: undefined hidden symbol: other(float)\n"
        ">>> referenced by /tmp/main-gfx942-b02981.o:(k(float*))\n"
        ">>> referenced by /tmp/main-gfx942-b02981.o:(k(float*))\n"
        "clang++: error: amdgcn-link command failed with exit code 1 (use -v to see invocation)\n"
    )
    [found] = diagnostics.parse(text, SOURCES)
    assert found.message == "undefined hidden symbol: other(float) (referenced by k(float*))"


def test_a_driver_error_that_stands_alone_is_kept() -> None:
    """Without a cause, the consequence is all there is."""
    [found] = diagnostics.parse("clang++: error: unable to execute command: Segmentation fault\n", SOURCES)
    assert found.level == Diagnostic.ERROR


def test_code_generator_errors_outside_sarif() -> None:
    """The back end ends with `fatal error: error in backend`."""
    [found] = diagnostics.parse("fatal error: error in backend: Cannot select: t1: i32\n", SOURCES)
    assert found.message == "error in backend: Cannot select: t1: i32"


def test_repeated_errors_are_said_once() -> None:
    """The same error in two documents, as two jobs of a driver give it, is one."""
    text = _sarif(_result("error", "once"), _result("note", "why")) + _sarif(_result("error", "once"))
    assert [d.message for d in diagnostics.parse(text, SOURCES)] == ["once", "why"]


def test_notes_of_a_failed_overload_are_few() -> None:
    """The first notes after an error are kept."""
    notes = [_result("note", f"candidate {i}") for i in range(20)]
    found = diagnostics.parse(_sarif(_result("error", "no match"), *notes), SOURCES)
    assert len(found) == 1 + diagnostics.MAX_NOTES


def test_errors_are_kept_before_warnings() -> None:
    """A flood of warnings does not hide the error behind it."""
    warnings = [_result("warning", f"w{i}") for i in range(100)]
    found = diagnostics.parse(_sarif(*warnings, _result("error", "the one")), SOURCES)
    assert found[0].message == "the one"
    assert len(found) == diagnostics.MAX_DIAGNOSTICS


def test_messages_are_bounded() -> None:
    """A template's name may be a megabyte."""
    [found] = diagnostics.parse(_sarif(_result("error", "x" * 100_000)), SOURCES)
    assert len(found.message) == diagnostics.MAX_MESSAGE_CHARS


def test_a_cut_off_document_is_said_to_be_one() -> None:
    """Output beyond the sandbox's limit ends in the middle of a document."""
    [found] = diagnostics.parse(_sarif(_result("error", "lost"))[:60], SOURCES)
    assert found.level == Diagnostic.ERROR
    assert "printed too much" in found.message
