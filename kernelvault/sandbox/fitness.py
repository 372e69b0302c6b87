"""Whether this machine can hold foreign code at all. There is no weaker sandbox to fall back to."""

from __future__ import annotations

import platform
import sys

from kernelvault.errors import Unfit
from kernelvault.sandbox import landlock, seccomp, usage


def check_platform() -> None:
    """Raises Unfit where foreign code cannot be held."""
    reason = refusal(sys.platform, platform.machine(), landlock.abi(), seccomp.available(), usage.sees_children())
    if reason:
        raise Unfit(f"failed to start the sandbox: {reason}")


def refusal(system: str, machine: str, landlock_abi: int, has_seccomp: bool, sees_children: bool) -> str | None:
    """Why a machine with these traits is unfit, and what to do; None if it is fit."""
    if system != "linux" or machine != "x86_64":
        return (
            f"it needs Linux on x86-64, this is {system} on {machine}; run the service in a Linux container or machine"
        )
    if landlock_abi == 0:
        return "the kernel has no Landlock; boot Linux 6.7 or newer with `landlock` in the `lsm=` list"
    if landlock_abi < landlock.REQUIRED_ABI:
        return f"the kernel's Landlock ABI is {landlock_abi}, {landlock.REQUIRED_ABI} is needed; use Linux 6.7 or newer"
    if not has_seccomp:
        return "seccomp filters are missing; use a kernel with CONFIG_SECCOMP_FILTER and do not block seccomp(2)"
    if not sees_children:
        return "/proc does not list the children of a process; mount it, and use a kernel with CONFIG_PROC_CHILDREN"
    return None
