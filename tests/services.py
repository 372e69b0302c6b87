"""Services as real processes on free ports, for tests."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

_START_S = 30.0


class Service:
    """A running `python -m MODULE`; use it as a context manager."""

    def __init__(self, module: str, environment: Mapping[str, str]) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._ready = Path(self._folder.name) / "ready"
        self._log = Path(self._folder.name) / "log"
        self._module = module
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": os.environ.get("HOME", "/"),
            "KERNELVAULT_READY_FILE": str(self._ready),
            "KERNELVAULT_DRAIN_SECONDS": "2",
            **environment,
        }
        self.process = self._spawn()
        self.address = self._wait()

    def _spawn(self) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", self._module], env=self._environment, stdout=log, stderr=log, cwd="/"
            )

    def _wait(self) -> str:
        deadline = time.monotonic() + _START_S
        while not self._ready.exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"failed to start {self._module}: {self.log()}")
            time.sleep(0.01)
        return self._ready.read_text().split()[1]

    def log(self) -> str:
        """What the process wrote so far, or the end of it."""
        return self._log.read_text(errors="replace")[-200_000:]

    def kill(self) -> None:
        """Ends the process without a chance to clean up."""
        self.process.kill()
        self.process.wait()

    def restart(self) -> None:
        """Starts the process again at the same address."""
        self._ready.unlink(missing_ok=True)
        self._environment["KERNELVAULT_ADDRESS"] = self.address
        self.process = self._spawn()
        self._wait()

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *exc: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.kill()
        self._folder.cleanup()
