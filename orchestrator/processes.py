"""Processes that outlive the command which started them: found again by pid and start time, stopped as families."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path


def spawn(argv: Sequence[str], *, environment: Mapping[str, str], log: Path) -> int:
    """Starts a process in a session of its own, with its output appended to `log`; returns its pid."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=dict(environment),
            start_new_session=True,
            cwd="/",
        )
    return process.pid


def identity(pid: int) -> str:
    """What tells this process from a later one with the same pid: boot and start time; empty if there is none."""
    fields = _stat(pid)
    if not fields or fields[0] in ("Z", "X"):
        return ""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{boot}:{fields[19]}"


def stop(processes: Mapping[int, str], *, grace_s: float) -> None:
    """SIGTERM to each process (pid to identity), then SIGKILL to what is left of it and of its descendants."""
    living = {pid for pid, who in processes.items() if who and identity(pid) == who}
    families = {pid: family(pid) for pid in living}
    for pid in living:
        _signal(pid, signal.SIGTERM)
    deadline = time.monotonic() + grace_s
    while living and time.monotonic() < deadline:
        for pid in living:
            families[pid] |= family(pid)
        living = {pid for pid in living if _alive(pid, processes[pid])}
        time.sleep(0.05)
    for relatives in families.values():
        for pid, who in relatives.items():
            if _alive(pid, who):
                _signal(pid, signal.SIGKILL)
    _reap([pid for relatives in families.values() for pid in relatives])


def _alive(pid: int, who: str) -> bool:
    _reap([pid])
    return identity(pid) == who


def _reap(pids: Sequence[int]) -> None:
    """Collects those of the processes that are children of ours."""
    for pid in pids:
        try:
            os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            continue


def family(pid: int) -> dict[int, str]:
    """A process, its descendants and the members of its session, each with its identity."""
    parents, sessions = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))):
            parents[int(entry.name)] = int(fields[1])
            sessions[int(entry.name)] = int(fields[3])
    members = {member for member, session in sessions.items() if session == pid} | {pid}
    while True:
        found = {child for child, parent in parents.items() if parent in members} - members
        if not found:
            return {member: identity(member) for member in members}
        members |= found


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from the state on."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
