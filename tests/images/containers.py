"""Containers as a strict cluster runs them: no capability, a root that cannot be written, no network but loopback."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
_PODMAN = ["podman", "--runtime", "runc", "--cgroup-manager", "cgroupfs"]
_STRICT = [
    "--read-only",
    "--cap-drop=all",
    "--security-opt=no-new-privileges",
    # Where a pod has its volumes.
    "--tmpfs=/tmp:rw,exec,mode=1777",
    "--volume=/var/cache/kernelvault",
    "--ulimit=nofile=4096:4096",
    "--ulimit=nproc=4096:4096",
]
_START_S = 60.0


def image(component: str) -> str:
    """The name of a component's image, as scripts/build-images gives it."""
    version = re.search(r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert version
    return f"{os.environ.get('IMAGE_PREFIX', 'localhost/kernelvault-')}{component}:{version[1]}"


def podman(*arguments: str, check: bool = True, timeout_s: float = 120) -> subprocess.CompletedProcess[str]:
    """Runs podman; its output is text."""
    done = subprocess.run([*_PODMAN, *arguments], capture_output=True, text=True, timeout=timeout_s, check=False)
    assert not check or done.returncode == 0, (
        f"podman {' '.join(arguments)}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    )
    return done


def inspect(component: str) -> Any:
    """What the image says of itself."""
    return json.loads(podman("image", "inspect", image(component)).stdout)[0]


@functools.cache
def missing() -> str:
    """Why the images cannot be tested here; empty if they can."""
    if not shutil.which("podman"):
        return "podman is not installed"
    absent = [c for c in ("corpus", "compiler", "orchestrator", "gateway") if not _exists(c)]
    return f"no image of {', '.join(absent)}: run `make images`" if absent else ""


def _exists(component: str) -> bool:
    return podman("image", "exists", image(component), check=False).returncode == 0


def _run(network: str, environment: Mapping[str, str], *options: str) -> list[str]:
    named = [f"--env={key}={value}" for key, value in environment.items()]
    return ["run", f"--network={network}", *_STRICT, *named, *options]


class Container:
    """A running container of an image; use it as a context manager."""

    def __init__(self, component: str, network: str, environment: Mapping[str, str], command: str = "") -> None:
        self.name = f"{component}-{uuid.uuid4().hex[:8]}"
        entry = ["--entrypoint=tini"] if command else []
        run = _run(network, environment, "--detach", f"--name={self.name}", *entry)
        podman(*run, image(component), *(["--", *command.split()] if command else []))

    @property
    def network(self) -> str:
        """For `network` of others that shall share its loopback interface."""
        return f"container:{self.name}"

    def log(self) -> str:
        """What it wrote."""
        done = podman("logs", self.name, check=False)
        return done.stdout + done.stderr

    def run(self, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Runs a command in it, as its user."""
        return podman("exec", self.name, *command, check=check)

    def wait(self, words: str) -> None:
        """Returns once the log holds `words`."""
        deadline = time.monotonic() + _START_S
        while words not in self.log():
            state = podman("inspect", "--format={{.State.Running}}", self.name).stdout.strip()
            assert state == "true" and time.monotonic() < deadline, self.log()[-3000:]
            time.sleep(0.1)

    def stop(self) -> int:
        """SIGTERM, and the exit status; SIGKILL after 30 seconds shows as 137."""
        podman("stop", "--time=30", self.name)
        return int(podman("inspect", "--format={{.State.ExitCode}}", self.name).stdout)

    def __enter__(self) -> Container:
        return self

    def __exit__(self, *exc: object) -> None:
        podman("rm", "--force", "--volumes", "--time=0", self.name, check=False)


def once(
    component: str, network: str, environment: Mapping[str, str], *arguments: str, options: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """Runs an image's entry point, or another that `options` names, with arguments to its end."""
    run = _run(network, environment, "--rm", *options)
    return podman(*run, image(component), *arguments, check=False, timeout_s=170)
