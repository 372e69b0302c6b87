"""System calls that Python's standard library lacks."""

from __future__ import annotations

import ctypes
import os

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long

PR_SET_PDEATHSIG = 1
PR_GET_SECCOMP = 21
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

_PRCTL = 157
_CAPSET = 126
_CAPABILITY_VERSION_3 = 0x20080522


def syscall(number: int, *arguments: int | bytes | None) -> int:
    """Makes a system call with word-sized arguments; raises OSError."""
    words = [ctypes.c_void_p(a) if isinstance(a, int) else a for a in arguments]
    result = int(_libc.syscall(ctypes.c_long(number), *words))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def prctl(option: int, argument: int | bytes = 0, pointer: bytes | None = None) -> int:
    """prctl(2); raises OSError."""
    return syscall(_PRCTL, option, argument, pointer, 0, 0)


def drop_capabilities() -> None:
    """Gives up all capabilities, so that root is as weak as any user; raises OSError."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    data = (ctypes.c_uint32 * 6)()
    syscall(_CAPSET, ctypes.addressof(header), ctypes.addressof(data))
