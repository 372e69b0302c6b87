"""One run of clang over a candidate's sources: in a folder of its own, with what it said and what it looked at."""

from __future__ import annotations

import dataclasses
import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kernelvault.sandbox import Limits, Outcome, Sandbox
from kernelvault.v1 import compiler_pb2
from svc_compiler.hip import diagnostics, pasted
from svc_compiler.hip.toolchain import COMPILE_LIMITS, Toolchain
from svc_compiler.refusal import Refused

Verdict = compiler_pb2.VerificationReport.Verdict
_DEPENDENCIES = "looked-at.d"
# `-dependency-file` lists a file that `__has_include` found, too, however the name was made up.
_LIST_DEPENDENCIES = ("-dependency-file", _DEPENDENCIES, "-MT", "it", "-sys-header-deps")
# `# 1 "file" 1`: looks like the preprocessor's own word on where a header begins or ends, which `meaning` relies on.
# It may stand behind a comment that began on an earlier line.
_MARKER = re.compile(rb"(?:^|\*/)[ \t\f\v]*(?:#|%:|\?\?=)[ \t\f\v]*(?:[0-9]+(?:[ \t\f\v]+\S|\"|/\*)|/\*)", re.MULTILINE)
_SPLICE = re.compile(rb"(?:\\|\?\?/)[ \t\f\v]*\n")


@dataclasses.dataclass(frozen=True)
class Pass:
    """What a run of clang left."""

    # Absent where it failed.
    output: Path | None
    diagnostics: list[compiler_pb2.Diagnostic]
    outcome: Outcome


async def run_pass(
    sandbox: Sandbox,
    toolchain: Toolchain,
    folder: Path,
    source: str,
    flags: Sequence[str],
    *,
    output: str,
    readable: Sequence[Path] = (),
    limits: Limits = COMPILE_LIMITS,
) -> Pass:
    """Runs clang++ over `folder / source` with `flags` and `-o output`.

    The sources are read-only to it; it works in a new folder with a name that a source cannot guess. A pass must be a
    function of the sources: where the preprocessor found a file that is neither theirs nor the tool chain's (`readable`
    adds to these), the candidate could tell one pass from another, and Refused is raised with REJECTED.
    """
    workspace = Path(tempfile.mkdtemp(dir=folder, prefix=".pass-"))
    listing = [word for flag in _LIST_DEPENDENCIES for word in ("-Xclang", flag)]
    argv = [toolchain.tool("clang++"), *flags, *listing, f"-ffile-prefix-map={folder}/="]
    argv += [str(folder / source), "-o", output]
    outcome = await toolchain.run(sandbox, workspace, *argv, limits=limits, readable=(folder, *readable))
    roots = [path for path in (*toolchain.readable, *readable) if path != toolchain.cache]
    _check_dependencies(workspace, folder, [*roots, *_cached(toolchain, flags)])
    made = workspace / output
    found = diagnostics.parse(outcome.stderr.decode(errors="replace"), folder)
    if not outcome.ok and not any(d.level == diagnostics.Diagnostic.ERROR for d in found):
        found.append(diagnostics.Diagnostic(level=diagnostics.Diagnostic.ERROR, message=_why(outcome)))
    return Pass(made if outcome.ok and made.is_file() else None, found, outcome)


def _cached(toolchain: Toolchain, flags: Sequence[str]) -> list[Path]:
    """Files of the tool chain's cache that a pass looks at for us; whether others are there depends on the day."""
    used = [Path(flag) for flag in flags if flag.startswith(f"{toolchain.cache}/")]
    return [path for name in used for path in (name, name.with_suffix(".h"))]


def _why(outcome: Outcome) -> str:
    silent = dataclasses.replace(outcome, stderr=b"")
    return f"the compiler gave up on these sources: {silent.describe()}"


def _check_dependencies(workspace: Path, folder: Path, roots: Sequence[Path]) -> None:
    try:
        listed = (workspace / _DEPENDENCIES).read_text(errors="surrogateescape")
    except OSError:  # it failed before it got there
        return
    for path in dependencies(listed):
        if not _is_allowed(path, folder, workspace, roots):
            shown = path.replace(str(workspace), "").replace(str(folder), "")
            raise Refused(
                Verdict.REJECTED,
                f"The source looks for the file {shown!r}, which is neither its own nor the tool chain's: what a "
                "source means must not depend on where it is compiled. Include headers by their plain names only.",
            )
        if path.startswith(f"{folder}/"):
            _check_markers(Path(path), pasted.origin(path.removeprefix(f"{folder}/")))


def _check_markers(path: Path, shown: str) -> None:
    """Raises Refused with REJECTED where a file of the candidate holds a line marker."""
    if path.is_file() and _MARKER.search(_SPLICE.sub(b"", re.sub(rb"\r\n?", b"\n", path.read_bytes()))):
        raise Refused(
            Verdict.REJECTED,
            f'{shown} holds a line marker of a preprocessor (`# 1 "file"`), or a comment with a line like one: write '
            "`#line`, or begin the comment's line with something else.",
        )


def dependencies(text: str) -> list[str]:
    """The files in a make rule as clang writes it."""
    _, _, listed = text.replace("\\\n", " ").partition(":")
    names = re.findall(r"(?:\\.|\$\$|[^\s\\])+", listed)
    return [re.sub(r"\\(.)", r"\1", name).replace("$$", "$") for name in names]


def _is_allowed(path: str, folder: Path, workspace: Path, roots: Sequence[Path]) -> bool:
    """Whether a path stays below the sources, or ends below a root; one that leaves the sources on its way does not."""
    prefix = f"{folder}/"
    if path.startswith(prefix):
        relative = path[len(prefix) :]
        depth = 0
        for part in relative.split("/"):
            depth += -1 if part == ".." else 0 if part in ("", ".") else 1
            if depth < 0:
                return False
        return not os.path.normpath(path).startswith(str(workspace))
    normal = os.path.normpath(path)
    return path.startswith("/") and any(normal == str(root) or normal.startswith(f"{root}/") for root in roots)
