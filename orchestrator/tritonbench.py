"""TritonBench-G: Triton scripts driven by their own tests, as AMD corrected them; fetched when asked for.

The wheel `geak-eval` (Apache-2.0) holds them as data. It is never installed, nor are the packages that it names.
"""

from __future__ import annotations

import fnmatch
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from kernelvault import digest
from kernelvault.v1.artifact_pb2 import Artifact
from orchestrator.mistake import Mistake

NAME = "tritonbench-g"
PACKAGE, VERSION, LICENSE = "geak-eval", "0.1.5", "Apache-2.0"
WHEEL_SHA256 = "e6c105efd172ca0d982895a852de6f1a68b9f01660d86a52815d759e4cc994c7"
COUNT = 184
CACHE = Path("~/.cache/kernelvault/suites").expanduser()
_WHEEL = "geak_eval-0.1.5-py3-none-any.whl"
_FOLDER = "geak_eval/data/TritonBench/data/TritonBench_G_v1/"
_PIP_SECONDS = 300


def scripts(cache: Path = CACHE) -> list[Artifact]:
    """The scripts in the order of their names; raises Mistake where the wheel is not here and cannot be fetched."""
    wheel = cache / _WHEEL
    if not wheel.is_file():
        _download(cache)
    data = wheel.read_bytes()
    if hashlib.sha256(data).hexdigest() != WHEEL_SHA256:
        raise Mistake(f"{str(wheel)!r} is not {PACKAGE} {VERSION}: its SHA-256 differs; remove it and try again")
    with zipfile.ZipFile(wheel) as archive:
        names = sorted(name for name in archive.namelist() if name.startswith(_FOLDER) and name.endswith(".py"))
        found = [
            digest.artifact(Path(name).name, archive.read(name)) for name in names if not name.endswith("__init__.py")
        ]
    if len(found) != COUNT:
        raise Mistake(f"{str(wheel)!r} holds {len(found)} scripts, not {COUNT}")
    return found


def select(given: Sequence[Artifact], *, only: str, limit: int) -> list[Artifact]:
    """Those whose names match one of the comma-separated patterns, at most `limit` (0: all); raises Mistake."""
    patterns = [pattern.strip().removesuffix(".py") for pattern in only.split(",") if pattern.strip()] or ["*"]
    chosen = [
        script
        for script in given
        if any(fnmatch.fnmatchcase(script.path.removesuffix(".py"), pattern) for pattern in patterns)
    ]
    if not chosen:
        raise Mistake(f"no script matches --only {only!r} among {len(given)}; `*` matches anything")
    return chosen[:limit] if limit else chosen


def _download(cache: Path) -> None:
    """Has pip fetch the wheel and check its hash."""
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as name:
        folder = Path(name)
        (folder / "wanted").write_text(f"{PACKAGE}=={VERSION} --hash=sha256:{WHEEL_SHA256}\n")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        command += ["--disable-pip-version-check", "--require-hashes", "--dest", name, "-r", str(folder / "wanted")]
        try:
            ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_PIP_SECONDS)
            why = ended.stderr.strip().splitlines()[-1:] or [f"exit code {ended.returncode}"]
        except subprocess.TimeoutExpired:
            why = [f"no answer in {_PIP_SECONDS} s"]
        if not (folder / _WHEEL).is_file():
            raise Mistake(
                f"failed to download {PACKAGE} {VERSION}: {why[0]}; without a network, put {_WHEEL} into {str(cache)!r}"
            )
        (folder / _WHEEL).rename(cache / _WHEEL)
