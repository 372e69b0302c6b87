"""What the processes of a job use, read from /proc by the zygote."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@dataclasses.dataclass(frozen=True)
class Usage:
    """Sums over the processes of a job at one moment."""

    processes: int = 0
    # The most that one process has.
    threads: int = 0
    # Anonymous and shared memory: what a process can make grow.
    memory_bytes: int = 0
    # Pages of files, which cost nobody else memory: the most that one process has.
    file_bytes: int = 0
    # Since it started, to files and pipes; children that it has waited for included.
    written_bytes: int = 0
    cpu_seconds: float = 0.0


def of_group(group: int) -> Usage:
    """The usage of the process group `group`, whose processes descend from the calling process."""
    pids = _members(group)
    counts = [of_process(pid) for pid in pids]
    return Usage(
        processes=len(pids),
        threads=max((one.threads for one in counts), default=0),
        memory_bytes=sum(one.memory_bytes for one in counts),
        file_bytes=max((one.file_bytes for one in counts), default=0),
        written_bytes=sum(one.written_bytes for one in counts),
        cpu_seconds=sum(_cpu_seconds(pid) for pid in pids),
    )


def of_process(pid: int) -> Usage:
    """The usage of one process without its CPU time; zeros where it is gone."""
    fields = _numbers(f"/proc/{pid}/status")
    written = _numbers(f"/proc/{pid}/io")
    memory = fields.get(b"RssAnon", 0) + fields.get(b"RssShmem", 0) + fields.get(b"VmSwap", 0)
    return Usage(
        processes=1,
        threads=fields.get(b"Threads", 0),
        memory_bytes=memory << 10,
        file_bytes=fields.get(b"RssFile", 0) << 10,
        # By system calls, or by pages of mapped files.
        written_bytes=max(written.get(b"wchar", 0), written.get(b"write_bytes", 0)),
    )


def own_data_bytes() -> int:
    """What the calling process holds of that which RLIMIT_DATA limits."""
    return _numbers(f"/proc/{os.getpid()}/status").get(b"VmData", 0) << 10


def sees_children() -> bool:
    """True if /proc tells which children a process has."""
    return Path("/proc/thread-self/children").exists()


def out_of_memory_kills() -> int:
    """How many processes the kernel has killed for want of memory since it started; 0 where it does not say."""
    for line in _read("/proc/vmstat").splitlines():
        if line.startswith(b"oom_kill "):
            return int(line.split()[1])
    return 0


def _members(group: int) -> list[int]:
    found: list[int] = []
    waiting = [pid for pid in _children(os.getpid()) if _group_of(pid) == group]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        waiting += _children(pid)
    return found


def _children(pid: int) -> list[int]:
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return []
    return [int(child) for thread in threads for child in _read(f"{thread}/children").split()]


def _group_of(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return -1


def _numbers(path: str) -> dict[bytes, int]:
    """The numeric fields of a file of `name: value` lines; memory is in KiB."""
    fields: dict[bytes, int] = {}
    for line in _read(path).splitlines():
        name, _, rest = line.partition(b":")
        words = rest.split()
        if words and words[0].isdigit():
            fields[name] = int(words[0])
    return fields


def _cpu_seconds(pid: int) -> float:
    """CPU time of a process and of its children that it has waited for."""
    words = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return sum(int(word) for word in words[11:15]) / _TICKS_PER_SECOND


def _read(path: str) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except OSError:
        return b""
