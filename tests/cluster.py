"""All services as `kernelvault up` starts them, and the command line, for tests."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

COMMAND = Path(sys.executable).with_name("kernelvault")


@dataclasses.dataclass(frozen=True)
class Cluster:
    """A state folder and the command in it."""

    folder: Path
    # Variables of the services, as `kernelvault up` takes them.
    settings: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """The caller's environment without its own settings, and this state folder."""
        others = {name: value for name, value in os.environ.items() if not name.startswith("KERNELVAULT_")}
        return {**others, **self.settings, "KERNELVAULT_STATE": str(self.folder)}

    def command(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        """Runs `kernelvault ...` to its end."""
        return subprocess.run(
            [COMMAND, *arguments], env=self.environment, capture_output=True, text=True, check=False, timeout=1200
        )

    def begin(self, *arguments: str | Path) -> subprocess.Popen[str]:
        """Starts `kernelvault ...`, which listens to Ctrl-C even where these tests, run in the background, do not."""
        return subprocess.Popen(
            ["env", "--default-signal=INT", COMMAND, *arguments],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def json(self, *arguments: str | Path) -> Any:
        """What `kernelvault ... --json` prints."""
        ended = self.command(*arguments, "--json")
        assert ended.stdout, ended.stderr
        return json.loads(ended.stdout)

    def records(self) -> dict[str, dict[str, Any]]:
        """The processes that run."""
        read: dict[str, dict[str, Any]] = json.loads((self.folder / "services.json").read_text())
        return read

    def journal(self, run: str) -> list[dict[str, Any]]:
        """What a run has done so far."""
        path = self.folder / "runs" / f"{run}.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Running services for all tests of a session."""
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    started = made.command("up")
    try:
        assert started.returncode == 0, started.stderr
        yield made
    finally:
        made.command("down")


@pytest.fixture
def stopped(tmp_path: Path) -> Cluster:
    """A state folder in which nothing runs, with addresses at which nothing answers."""
    cluster = Cluster(tmp_path / "state")
    cluster.folder.mkdir()
    names = ("generator", "compiler", "profiler", "corpus", "trainer")
    nowhere = {name: {"pid": 0, "identity": "", "address": f"127.0.0.1:{port}"} for port, name in enumerate(names, 1)}
    (cluster.folder / "services.json").write_text(json.dumps(nowhere))
    return cluster
