"""The scripts of TritonBench-G, without the wheel that holds them."""

from pathlib import Path

import pytest

from kernelvault import digest
from orchestrator import tritonbench
from orchestrator.mistake import Mistake

SCRIPTS = [digest.artifact(f"{name}.py", b"pass") for name in ("attn_bwd", "attn_fwd", "softmax")]


def test_patterns_and_a_limit_choose_scripts() -> None:
    """Names may be written with their suffix or without; none means all."""
    assert [script.path for script in tritonbench.select(SCRIPTS, only="softmax.py, *_bwd", limit=0)] == [
        "attn_bwd.py",
        "softmax.py",
    ]
    assert tritonbench.select(SCRIPTS, only="", limit=2) == SCRIPTS[:2]
    with pytest.raises(Mistake, match="no script matches --only 'matmul' among 3"):
        tritonbench.select(SCRIPTS, only="matmul", limit=0)


def test_another_wheel_is_refused(tmp_path: Path) -> None:
    """What lies in the cache is checked each time."""
    (tmp_path / "geak_eval-0.1.5-py3-none-any.whl").write_bytes(b"something else")
    with pytest.raises(Mistake, match="its SHA-256 differs; remove it and try again"):
        tritonbench.scripts(tmp_path)


def test_offline_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where pip cannot fetch the wheel the user learns where to put it."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(Mistake, match=r"failed to download geak-eval 0\.1\.5: .*without a network, put geak_eval-"):
        tritonbench.scripts(tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []
