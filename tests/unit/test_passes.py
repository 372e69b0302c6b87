"""Which files a pass may look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from svc_compiler.hip import passes

FOLDER, WORKSPACE, ROOT = Path("/c/verify/gpu"), Path("/c/verify/gpu/.pass-x"), Path("/opt/root")


def test_make_rule_of_clang() -> None:
    """Continued lines, escaped blanks, hashes and dollars are names again."""
    text = "it: /a/main.hip \\\n  /a/b\\ c.h \\\n  /a/d\\#e.h /a/f$$g.h\n"
    assert passes.dependencies(text) == ["/a/main.hip", "/a/b c.h", "/a/d#e.h", "/a/f$g.h"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/c/verify/gpu/main.hip", True),
        ("/c/verify/gpu/sub/../util.h", True),
        ("/c/verify/gpu/../gpu/main.hip", False),
        ("/c/verify/gpu/sub/../../gpu/main.hip", False),
        ("/c/verify/gpu/../cpu/main.hip", False),
        ("/c/verify/gpu/.pass-x/it.d", False),
        ("/opt/root/usr/lib/gcc/12/../../include/vector", True),
        ("/opt/root/../../proc/self/cmdline", False),
        ("/opt/rootkit/x.h", False),
        ("/proc/self/cwd/main.hip", False),
        ("relative.h", False),
    ],
)
def test_allowed_files(path: str, expected: bool) -> None:
    """The candidate's own files, reached without leaving them, and the tool chain's; nothing else."""
    assert passes._is_allowed(path, FOLDER, WORKSPACE, [ROOT]) is expected
