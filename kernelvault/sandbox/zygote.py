"""The zygote: a small single-threaded process that has imported what jobs need, and forks a child for each.

It never reads what a job is given, so that its memory, which every child inherits, holds no job's data. It watches the
limits of its children, kills each job as a whole (a job cannot leave its process group) and reaps it. It speaks with
the parent over a SOCK_SEQPACKET pair: `run` and `cancel` in, `started`, `ended` and `failed` out, JSON each; when the
parent is gone it kills all jobs and ends.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
import time
from typing import Any

from kernelvault.sandbox import child, libc, usage

MAX_MESSAGE_BYTES = 16 << 10
MAX_DESCRIPTORS = 200
_WATCH_SECONDS = 0.05
_WATCH_TREE_SECONDS = 0.02
_ENDING_SECONDS = 0.001


class Running:
    """One job: a process group, what it has used, and why it was killed if it was."""

    def __init__(self, message: dict[str, Any], pid: int, status: int) -> None:
        self.id: int = message["run"]
        self.limits: dict[str, Any] = message["limits"]
        self.pid = pid
        self.pidfd = os.pidfd_open(pid)
        self.status = status
        self.deadline = time.monotonic() + self.limits["wall_seconds"]
        self.memory_limit: int = self.limits["memory_bytes"]
        if message["inherits"]:
            self.memory_limit += usage.of_process(os.getpid()).memory_bytes
        self.wait_status: int | None = None
        self.cpu_seconds = 0.0
        # The most that one process held, files included, known once it has ended; and of that, files at most.
        self.peak_bytes = self.file_bytes = 0
        self.killed_for = ""
        self.kernel_kills = usage.out_of_memory_kills()

    @property
    def watch_seconds(self) -> float:
        if self.wait_status is not None or self.killed_for:
            return _ENDING_SECONDS
        return _WATCH_TREE_SECONDS if self.limits["processes"] > 1 else _WATCH_SECONDS

    def kill(self, reason: str) -> None:
        """Kills the whole job; the first reason stays."""
        self.killed_for = self.killed_for or reason
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        if self.wait_status is None:  # it may not lead its group yet
            os.kill(self.pid, signal.SIGKILL)

    def gone(self) -> bool:
        """Reaps what has ended; true once nothing of the job is left."""
        if self.wait_status is None:
            self._reap(self.pid)
        while self._reap(-self.pid):
            pass
        if self.wait_status is None:
            return False
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            return True
        return False

    def _reap(self, which: int) -> bool:
        try:
            pid, status, used = os.wait4(which, os.WNOHANG)
        except ChildProcessError:
            return False
        if pid == self.pid:
            self.wait_status = status
        if pid:
            self.cpu_seconds += used.ru_utime + used.ru_stime
            self.peak_bytes = max(self.peak_bytes, used.ru_maxrss << 10)
        return pid != 0

    @property
    def reason(self) -> str:
        """What it was killed for; `memory` where it failed by itself, having held too much between two looks."""
        if self.killed_for or not self.wait_status:
            return self.killed_for
        return "memory" if self.peak_bytes - self.file_bytes > self.memory_limit else ""

    def excess(self) -> str:
        """The limit that the job is beyond, or nothing."""
        if time.monotonic() > self.deadline:
            return "time"
        tree = self.limits["processes"] > 1
        used = usage.of_group(self.pid) if tree else usage.of_process(self.pid)
        self.file_bytes = max(self.file_bytes, used.file_bytes)
        if used.memory_bytes > self.memory_limit:
            return "memory"
        if used.cpu_seconds + self.cpu_seconds > self.limits["cpu_seconds"]:
            return "time"
        if used.processes > self.limits["processes"] or used.threads > self.limits["threads"]:
            return "processes"
        if used.written_bytes > self.limits["written_bytes"]:
            return "written"
        return ""


class Zygote:
    """Serves one parent until it goes away."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._jobs: dict[int, Running] = {}
        self._selector = selectors.DefaultSelector()
        self._selector.register(control, selectors.EVENT_READ)

    def serve(self) -> None:
        """Forks and watches; returns when the parent is gone and all jobs are dead."""
        while True:
            pause = min((job.watch_seconds for job in self._jobs.values()), default=None)
            ready = {key.fd for key, _ in self._selector.select(pause)}
            if self._control.fileno() in ready and not self._receive():
                break
            for job in list(self._jobs.values()):
                self._watch(job)
        self._end_all()

    def _receive(self) -> bool:
        data, descriptors, _, _ = socket.recv_fds(self._control, MAX_MESSAGE_BYTES, MAX_DESCRIPTORS)
        if not data:
            return False
        message = json.loads(data)
        try:
            if "run" in message:
                self._start(message, descriptors)
            elif message["cancel"] in self._jobs:
                self._jobs[message["cancel"]].kill("cancel")
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        return True

    def _start(self, message: dict[str, Any], descriptors: list[int]) -> None:
        try:
            status, status_end = os.pipe()
            go_end, go = os.pipe()
            spec, stdout, stderr, *named = descriptors
            zygote = os.getpid()
            pid = os.fork()
        except (OSError, ValueError) as error:
            self._send({"id": message["run"], "failed": f"failed to fork: {error}"})
            return
        if pid == 0:
            handover = child.Handover(spec, stdout, stderr, tuple(named), status_end, go_end)
            child.become(handover, zygote)
        os.close(status_end)
        os.close(go_end)
        job = self._jobs[message["run"]] = Running(message, pid, status)
        self._selector.register(job.pidfd, selectors.EVENT_READ)
        # The parent must know whom to kill before the job can start anything.
        self._send({"id": job.id, "started": pid})
        with contextlib.suppress(BrokenPipeError):
            os.write(go, b"g")
        os.close(go)

    def _watch(self, job: Running) -> None:
        if job.gone():
            self._finish(job)
        elif job.wait_status is None and not job.killed_for:
            excess = job.excess()
            if excess:
                job.kill(excess)

    def _finish(self, job: Running) -> None:
        del self._jobs[job.id]
        self._selector.unregister(job.pidfd)
        os.close(job.pidfd)
        trouble = os.read(job.status, 4096).decode(errors="replace")
        os.close(job.status)
        code = os.waitstatus_to_exitcode(job.wait_status or 0)
        if trouble and not job.killed_for:
            self._send({"id": job.id, "failed": trouble})
        elif code == -signal.SIGKILL and not job.killed_for and usage.out_of_memory_kills() > job.kernel_kills:
            self._send({"id": job.id, "failed": "the machine ran out of memory"})
        else:
            self._send({"id": job.id, "ended": code, "killed_for": job.reason, "cpu_seconds": job.cpu_seconds})

    def _send(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):  # the parent is gone: the next receive says so
            self._control.send(json.dumps(message).encode())

    def _end_all(self) -> None:
        for job in self._jobs.values():
            job.kill("parent")
        while any(not job.gone() for job in self._jobs.values()):
            time.sleep(_ENDING_SECONDS)


def main(control: socket.socket, preload: list[str]) -> None:
    """Imports `preload`, says that it is ready, serves."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    libc.prctl(libc.PR_SET_CHILD_SUBREAPER, 1)
    try:
        for name in preload:
            importlib.import_module(name)
        threads = usage.of_process(os.getpid()).threads
        if threads != 1:
            raise RuntimeError(f"{threads} threads are running after the import of {', '.join(preload)}")
    except Exception as error:
        control.send(json.dumps({"unfit": f"{type(error).__name__}: {error}"[:4000]}).encode())
        return
    gc.collect()
    gc.freeze()
    control.send(json.dumps({"ready": True}).encode())
    Zygote(control).serve()


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])), sys.argv[2:])
