"""Seccomp: the system calls that a sandboxed process may make; all others fail (seccomp(2), x86-64 only).

The filter is a list of what is allowed: sockets, ptrace, mounts, namespaces, io_uring, keyrings, perf events, System V
IPC, changes of owner, mode or times, memory files and new sessions are not on it.
"""

from __future__ import annotations

import ctypes
import errno
import struct
from collections.abc import Sequence

from kernelvault.sandbox import libc

_SECCOMP = 317
_SET_MODE_FILTER = 1
_GET_ACTION_AVAIL = 2
_AUDIT_ARCH_X86_64 = 0xC000003E
_X32_BIT = 0x40000000
# Newer calls than this are unknown to the kernel as far as the C library is concerned: it falls back to older ones.
_NEWEST_CLASSIC = 334

_ALLOW, _ERRNO, _KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000
_LOAD, _JUMP_EQUAL, _JUMP_GREATER, _JUMP_GREATER_EQUAL, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x25, 0x35, 0x45, 0x06
_NUMBER, _ARCH = 0, 4

_PROT_WRITE = 2
_CLONE_THREAD = 0x00010000
# New namespaces (user, mount, PID, network, IPC, UTS, cgroup, time), CLONE_PARENT, CLONE_PTRACE.
_CLONE_FORBIDDEN = 0x7E020000 | 0x80 | 0x8000 | 0x2000
# isatty, terminal size, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX.
_IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
# F_SETSIG, F_SETOWN, F_SETOWN_EX: signals to others. F_NOTIFY: what happens in other folders.
_FCNTL_DENIED = (8, 10, 15, 1026)
# PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, PR_CAPBSET_READ, PR_SET_VMA, PR_SET_THP_DISABLE.
_PRCTLS = (3, 15, 16, 23, 41, 0x53564D41)

CALLS = {
    "read": 0, "write": 1, "open": 2, "close": 3, "stat": 4, "fstat": 5, "lstat": 6, "poll": 7, "lseek": 8,
    "mmap": 9, "mprotect": 10, "munmap": 11, "brk": 12, "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15,
    "ioctl": 16, "pread64": 17, "pwrite64": 18, "readv": 19, "writev": 20, "access": 21, "pipe": 22, "select": 23,
    "sched_yield": 24, "mremap": 25, "msync": 26, "mincore": 27, "madvise": 28, "dup": 32, "dup2": 33, "pause": 34,
    "nanosleep": 35, "getitimer": 36, "alarm": 37, "setitimer": 38, "getpid": 39, "sendfile": 40, "clone": 56,
    "fork": 57, "vfork": 58, "execve": 59, "exit": 60, "wait4": 61, "kill": 62, "uname": 63, "fcntl": 72, "flock": 73,
    "fsync": 74, "fdatasync": 75, "truncate": 76, "ftruncate": 77, "getdents": 78, "getcwd": 79, "chdir": 80,
    "fchdir": 81, "rename": 82, "mkdir": 83, "rmdir": 84, "creat": 85, "link": 86, "unlink": 87, "readlink": 89,
    "umask": 95, "gettimeofday": 96, "getrlimit": 97, "getrusage": 98, "sysinfo": 99, "times": 100, "getuid": 102,
    "getgid": 104, "geteuid": 107, "getegid": 108, "getppid": 110, "getpgrp": 111, "getresuid": 118, "getresgid": 120,
    "rt_sigpending": 127, "rt_sigtimedwait": 128, "rt_sigsuspend": 130, "sigaltstack": 131, "statfs": 137,
    "fstatfs": 138, "getpriority": 140, "sched_getparam": 143, "sched_getscheduler": 145, "sched_get_priority_max": 146,
    "sched_get_priority_min": 147, "prctl": 157, "arch_prctl": 158, "gettid": 186, "readahead": 187, "time": 201,
    "futex": 202, "sched_getaffinity": 204, "epoll_create": 213, "getdents64": 217, "set_tid_address": 218,
    "fadvise64": 221, "clock_gettime": 228, "clock_getres": 229, "clock_nanosleep": 230, "exit_group": 231,
    "epoll_wait": 232, "epoll_ctl": 233, "tgkill": 234, "waitid": 247, "openat": 257, "mkdirat": 258,
    "newfstatat": 262, "unlinkat": 263, "renameat": 264, "linkat": 265, "readlinkat": 267, "faccessat": 269,
    "pselect6": 270, "ppoll": 271, "set_robust_list": 273, "epoll_pwait": 281, "eventfd": 284, "fallocate": 285,
    "eventfd2": 290, "epoll_create1": 291, "dup3": 292, "pipe2": 293, "preadv": 295, "pwritev": 296, "prlimit64": 302,
    "getcpu": 309, "renameat2": 316, "getrandom": 318, "membarrier": 324, "copy_file_range": 326, "preadv2": 327,
    "pwritev2": 328, "statx": 332, "rseq": 334, "close_range": 436, "openat2": 437, "faccessat2": 439,
    "futex_waitv": 449,
}  # fmt: skip

Instruction = tuple[int, int, int, int]
_RETURN_ALLOW: Instruction = (_RETURN, 0, 0, _ALLOW)
_RETURN_DENY: Instruction = (_RETURN, 0, 0, _ERRNO | errno.EPERM)


def available() -> bool:
    """True if the kernel takes filters that kill and that return errors."""
    try:
        for action in (_KILL_PROCESS, _ERRNO):
            libc.syscall(_SECCOMP, _GET_ACTION_AVAIL, 0, struct.pack("=I", action))
    except OSError:
        return False
    return True


def install(program: bytes) -> None:
    """Puts a filter on the calling thread, for good; raises OSError. `no_new_privs` must be set."""
    code = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(code))
    libc.syscall(_SECCOMP, _SET_MODE_FILTER, 0, header)


def build(*, pid: int, memory_bytes: int, processes: bool, execute: bool, signals_scoped: bool) -> bytes:
    """A filter for process `pid`.

    A writable mapping above `memory_bytes` kills the process with SIGSYS, which nothing else does. `processes`: it may
    fork; `execute`: it may execute programs; `signals_scoped`: Landlock keeps its signals to itself and its children.
    """
    special = {
        "mmap": _mmap(memory_bytes),
        "ioctl": _only(1, _IOCTLS),
        "fcntl": _none_of(1, _FCNTL_DENIED),
        "prctl": _only(0, _PRCTLS),
        "prlimit64": _only(0, (0,)),
        "clone": _clone(processes),
        # The C library then writes zeros, which count.
        "fallocate": [(_RETURN, 0, 0, _ERRNO | errno.EOPNOTSUPP)],
        "fork": [_RETURN_ALLOW if processes else _RETURN_DENY],
        "vfork": [_RETURN_ALLOW if processes else _RETURN_DENY],
        "execve": [_RETURN_ALLOW if execute else _RETURN_DENY],
    }
    to_itself = [_RETURN_ALLOW] if processes and signals_scoped else _only(0, (pid,))
    special |= {"kill": to_itself, "tgkill": to_itself}
    return _assemble(special)


def _assemble(special: dict[str, list[Instruction]]) -> bytes:
    program: list[Instruction] = [
        (_LOAD, 0, 0, _ARCH),
        (_JUMP_EQUAL, 1, 0, _AUDIT_ARCH_X86_64),
        _RETURN_DENY,
        (_LOAD, 0, 0, _NUMBER),
        (_JUMP_GREATER_EQUAL, 0, 1, _X32_BIT),
        _RETURN_DENY,
    ]
    for name, number in CALLS.items():
        body = special.get(name, [_RETURN_ALLOW])
        program += [(_JUMP_EQUAL, 0, len(body), number), *body]
    program += [(_JUMP_GREATER, 0, 1, _NEWEST_CLASSIC), (_RETURN, 0, 0, _ERRNO | errno.ENOSYS), _RETURN_DENY]
    return b"".join(struct.pack("HBBI", *instruction) for instruction in program)


def _argument(index: int, high: bool = False) -> Instruction:
    """Loads half of an argument; the layout is that of struct seccomp_data."""
    return (_LOAD, 0, 0, 16 + 8 * index + 4 * high)


def _only(index: int, values: Sequence[int]) -> list[Instruction]:
    tests = [(_JUMP_EQUAL, len(values) - i, 0, value) for i, value in enumerate(values)]
    return [_argument(index), *tests, _RETURN_DENY, _RETURN_ALLOW]


def _none_of(index: int, values: Sequence[int]) -> list[Instruction]:
    tests = [(_JUMP_EQUAL, len(values) - i, 0, value) for i, value in enumerate(values)]
    return [_argument(index), *tests, _RETURN_ALLOW, _RETURN_DENY]


def _clone(processes: bool) -> list[Instruction]:
    head: list[Instruction] = [_argument(0), (_JUMP_ANY_BIT, 0, 1, _CLONE_FORBIDDEN), _RETURN_DENY]
    if processes:
        return [*head, _RETURN_ALLOW]
    return [*head, (_JUMP_ANY_BIT, 1, 0, _CLONE_THREAD), _RETURN_DENY, _RETURN_ALLOW]


def _mmap(memory_bytes: int) -> list[Instruction]:
    high, low = memory_bytes >> 32, memory_bytes & 0xFFFFFFFF
    return [
        _argument(2),
        (_JUMP_ANY_BIT, 1, 0, _PROT_WRITE),
        _RETURN_ALLOW,
        _argument(1, high=True),
        (_JUMP_GREATER, 3, 0, high),
        (_JUMP_EQUAL, 0, 3, high),
        _argument(1),
        (_JUMP_GREATER, 0, 1, low),
        (_RETURN, 0, 0, _KILL_PROCESS),
        _RETURN_ALLOW,
    ]
