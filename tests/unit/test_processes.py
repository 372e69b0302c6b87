"""Processes that outlive a command."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator import processes

# A process that ignores SIGTERM and has a child in a session of its own, which ignores it too.
STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = os.fork()
if child == 0:
    os.setsid()
    print(os.getpid(), flush=True)
time.sleep(600)
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Where a process writes."""
    return tmp_path / "log"


@pytest.fixture
def stubborn(log: Path) -> Iterator[tuple[int, int]]:
    """The pids of a stubborn process and of its child."""
    pid = processes.spawn([sys.executable, "-c", STUBBORN], environment=os.environ, log=log)
    while not log.read_text().strip():
        time.sleep(0.01)
    child = int(log.read_text())
    yield pid, child
    for left in (pid, child):
        if processes.identity(left):
            os.kill(left, signal.SIGKILL)


def test_stopping_leaves_nothing(stubborn: tuple[int, int]) -> None:
    """Whoever ignores SIGTERM is killed, with its children, whatever session they went to."""
    pid, child = stubborn

    processes.stop({pid: processes.identity(pid)}, grace_s=0.3)
    time.sleep(0.1)

    assert (processes.identity(pid), processes.identity(child)) == ("", "")


def test_a_process_that_has_the_pid_of_another_is_left_alone(stubborn: tuple[int, int]) -> None:
    """A pid file may be older than the process that has its pid now."""
    pid, _ = stubborn

    processes.stop({pid: "another boot:123"}, grace_s=0.1)

    assert processes.identity(pid) != ""


def test_nothing_has_no_identity() -> None:
    """A pid that nobody has tells nobody apart."""
    assert processes.identity(2**22 + 1) == ""
