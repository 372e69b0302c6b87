"""A real S3 server for tests: SeaweedFS on the loopback interface, with credentials."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

ACCESS_KEY = "tests"
SECRET_KEY = "not-a-secret"
_HOST = "127.0.0.1"
_START_S = 30.0


class S3Server:
    """One server process; it keeps its address and its data when it is stopped and started again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ports = _free_ports(11)
        self._process: subprocess.Popen[bytes] | None = None
        self.endpoint = f"{_HOST}:{self._ports[0]}"
        identity = {"name": "tests", "credentials": [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}]}
        identity["actions"] = ["Admin", "Read", "Write", "List", "Tagging"]
        (folder / "identities.json").write_text(json.dumps({"identities": [identity]}))
        (folder / "data").mkdir()

    def environment(self, **settings: str) -> dict[str, str]:
        """The variables with which svc_corpus finds this server; `settings` are further ones without their prefix."""
        named = {
            "S3_ENDPOINT": self.endpoint,
            "S3_SECURE": "false",
            "S3_ACCESS_KEY": ACCESS_KEY,
            "S3_SECRET_KEY": SECRET_KEY,
            "S3_BUCKET": "corpus",
            **{name.upper(): value for name, value in settings.items()},
        }
        return {f"KERNELVAULT_{name}": value for name, value in named.items()}

    def start(self) -> None:
        """Returns once the server answers."""
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(self._command(), stdout=log, stderr=log, cwd=self._folder)
        deadline = time.monotonic() + _START_S
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                tail = (self._folder / "log").read_text(errors="replace")[-2000:]
                raise RuntimeError(f"failed to start the S3 server: {tail}")
            time.sleep(0.05)

    def stop(self) -> None:
        """Kills the server at once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _answers(self) -> bool:
        try:
            urllib.request.urlopen(f"http://{self.endpoint}/healthz", timeout=0.5).close()
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False
        return True

    def _command(self) -> list[str]:
        program = Path(sys.executable).with_name("weed")
        ports = iter(self._ports)
        argv = [str(program), "mini", f"-dir={self._folder / 'data'}", f"-s3.config={self._folder / 'identities.json'}"]
        argv += [f"-ip={_HOST}", f"-ip.bind={_HOST}", "-master.telemetry=false", "-webdav=false", "-admin.ui=false"]
        argv += [f"-s3.port={next(ports)}", f"-s3.port.grpc={next(ports)}", "-s3.port.iceberg=0", "-s3.port.lance=0"]
        for part in ("master", "volume", "filer", "admin"):
            argv += [f"-{part}.port={next(ports)}", f"-{part}.port.grpc={next(ports)}"]
        return argv


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """A server for all tests of a session; tests keep apart by their prefixes or buckets."""
    yield from _served(tmp_path_factory.mktemp("s3"))


@pytest.fixture
def own_s3(tmp_path: Path) -> Iterator[S3Server]:
    """A server that one test may stop and start."""
    folder = tmp_path / "s3"
    folder.mkdir()
    yield from _served(folder)


def _served(folder: Path) -> Iterator[S3Server]:
    server = S3Server(folder)
    server.start()
    yield server
    server.stop()
    shutil.rmtree(folder, ignore_errors=True)


def _free_ports(count: int) -> list[int]:
    """Ports that nobody uses now, below the range from which the system hands out ports to clients."""
    found: list[int] = []
    held = []
    for port in range(20000 + (time.time_ns() // 1000) % 8000, 32000):
        trial = socket.socket()
        try:
            trial.bind((_HOST, port))
        except OSError:
            trial.close()
            continue
        held.append(trial)
        found.append(port)
        if len(found) == count:
            break
    for trial in held:
        trial.close()
    return found
