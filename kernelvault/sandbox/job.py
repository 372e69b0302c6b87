"""What is run in a sandbox, how much it may use, and how it ended."""

from __future__ import annotations

import dataclasses
import signal
from collections.abc import Mapping
from pathlib import Path

_TAIL_BYTES = 400


@dataclasses.dataclass(frozen=True, kw_only=True)
class Limits:
    """What a job may use. Beyond a limit it is killed, except for output, which is cut off."""

    wall_seconds: float = 60
    # Of all processes of the job together.
    cpu_seconds: float = 60
    # Anonymous and shared memory of all its processes, beyond what an entry job inherits from the zygote. File pages
    # do not count, nor does address space that is reserved without access. One allocation above it is
    # out of memory too; allocations fail once touched and untouched memory together are twice as much.
    memory_bytes: int = 4 << 30
    # Of one file.
    file_bytes: int = 256 << 20
    # Of all its processes, to files and pipes together.
    written_bytes: int = 4 << 30
    open_files: int = 256
    # Kept of each of stdout and stderr; the rest is read and thrown away.
    output_bytes: int = 1 << 20
    # 1: the job cannot start a process. More is for drivers that start compilers.
    processes: int = 1
    # Of one process.
    threads: int = 512


@dataclasses.dataclass(frozen=True, kw_only=True)
class Job:
    """One run of foreign code: a program, or a function in a warm forked child."""

    # The only writable place, made by the caller; also the working directory, HOME and TMPDIR. Files in it are made
    # by foreign code. No links, sockets or devices can be made there, and no file in it be executed.
    folder: Path
    # A program with an absolute path, and its arguments...
    argv: tuple[str, ...] = ()
    # ... or `package.module:function`, called with the payload and the descriptors; the exit code is the integer
    # that it returns, 0 for None, 1 after an exception, whose traceback goes to stderr.
    entry: str = ""
    payload: bytes = b""
    # Files and folders that may be read and executed, beyond the system's libraries and the program itself (for entry
    # jobs: the Python environment, kernelvault and the entry's package).
    readable: tuple[Path, ...] = ()
    # Open files of the parent. The child gets them as 3, 4, ... in this order.
    descriptors: Mapping[str, int] = dataclasses.field(default_factory=dict)
    # All of the child's environment besides PATH, HOME, TMPDIR and LANG.
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)
    limits: Limits = dataclasses.field(default_factory=Limits)

    def __post_init__(self) -> None:
        if bool(self.argv) == bool(self.entry):
            raise ValueError("failed to make a job: give either `argv` or `entry`")
        if self.argv and not self.argv[0].startswith("/"):
            raise ValueError(f"failed to make a job: {self.argv[0]!r} is not an absolute path")
        if self.entry and self.entry.count(":") != 1:
            raise ValueError(f"failed to make a job: entry {self.entry!r} is not `package.module:function`")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a job ended. Exactly one of `exit_code` and `signal` is set."""

    exit_code: int | None
    signal: int | None
    # It met its limit of wall-clock or CPU time.
    timed_out: bool
    # It met its limit of memory.
    out_of_memory: bool
    # It started more processes or threads than it may.
    too_many_processes: bool = False
    # It wrote more than it may.
    wrote_too_much: bool = False
    cpu_seconds: float = 0.0
    stdout: bytes = b""
    stderr: bytes = b""

    @property
    def ok(self) -> bool:
        """Exit code 0 within all limits."""
        return self.exit_code == 0

    def describe(self) -> str:
        """A line for people: "killed by SIGSEGV", "exit code 1: ..." with the end of stderr."""
        if self.timed_out:
            return f"timed out, having used {self.cpu_seconds:.1f} CPU seconds"
        if self.out_of_memory:
            return "out of memory"
        if self.too_many_processes:
            return "started too many processes or threads"
        if self.wrote_too_much:
            return "wrote too much"
        text = self.stderr[-_TAIL_BYTES:].decode(errors="replace").strip()
        head = f"exit code {self.exit_code}" if self.signal is None else f"killed by {_name(self.signal)}"
        return f"{head}: {text}" if text and self.exit_code != 0 else head


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
