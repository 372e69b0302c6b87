"""Runs foreign code: Landlock, seccomp, rlimits, no network, no inherited descriptors, killed whole.

`Sandbox.run(Job(...))` gives an `Outcome`. A sandboxed process may write to its own folder only, read the system's
libraries and what its job names, and talk to nobody. Everything that it started is gone when `run` returns.

What it does not do: paths can be probed for existence and metadata (Landlock does not hide them); memory and written
bytes are watched every 50 ms (20 ms for trees), so that a job can overshoot by what it does meanwhile; when the service
and its zygote are both killed in the same instant, a compiler's child may run on until its CPU limit.

Measured on two cores: a job costs about 5 ms in a bare sandbox and 11 ms where torch is preloaded
(`python -m benchmarks.sandbox`).
"""

from kernelvault.errors import Unfit
from kernelvault.sandbox.client import Sandbox, check_all
from kernelvault.sandbox.fitness import check_platform
from kernelvault.sandbox.job import Job, Limits, Outcome

__all__ = ["Job", "Limits", "Outcome", "Sandbox", "Unfit", "check_all", "check_platform"]
