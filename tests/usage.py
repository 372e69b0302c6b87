"""What processes have used. Unlike the clock, it does not depend on what else the machine does."""

from __future__ import annotations

import os
import resource
from pathlib import Path


def cpu_seconds(pid: int) -> float:
    """User and system time of a running process, without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def children_cpu_seconds() -> float:
    """User and system time of all children of this process that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
