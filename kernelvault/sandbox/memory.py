"""Memory files: what a process hands to another without a shared folder and without trust."""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
import time

from kernelvault import errors

_FIXED = fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK
_FROZEN = _FIXED | fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SEAL


# Whoever reads a process's files in /proc, as monitoring does, keeps its memory for a moment beyond its end.
_PATIENCE_SECONDS = 1.0
_PAUSE_SECONDS = 0.002


class SealsChanged(Exception):
    """A memory file cannot be frozen: the process that was given it has sealed it in its own way."""


def sealed(data: bytes | bytearray | memoryview) -> int:
    """A descriptor of a memory file that holds `data` and that nobody can change.

    All who get it share its position: read it with mmap or pread.
    """
    descriptor = os.memfd_create("sealed", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        view = memoryview(data).cast("B")
        while view:
            view = view[os.write(descriptor, view) :]
        os.lseek(descriptor, 0, os.SEEK_SET)
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _FROZEN)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def output(size_bytes: int) -> int:
    """A descriptor of a zeroed memory file of a fixed size that a child may write.

    A child writes it through mmap: `Limits.file_bytes` holds for write and pwrite.
    """
    descriptor = os.memfd_create("output", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(descriptor, size_bytes)
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _FIXED)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def collect(descriptor: int) -> memoryview:
    """Freezes a memory file and maps it for reading; its bytes can no longer change.

    Collect after the child is gone: raises errors.Unavailable where it is mapped for writing for longer than a dead
    process's memory may last, SealsChanged.
    """
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not _frozen(descriptor):
        if time.monotonic() > deadline:
            raise errors.Unavailable("SANDBOX_FAILED", "failed to freeze a memory file: it is still mapped for writing")
        time.sleep(_PAUSE_SECONDS)
    size = os.fstat(descriptor).st_size
    if size == 0:
        return memoryview(b"")
    return memoryview(mmap.mmap(descriptor, size, prot=mmap.PROT_READ))


def _frozen(descriptor: int) -> bool:
    """Freezes a memory file; false while it is mapped for writing."""
    try:
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _FROZEN)
    except PermissionError:
        if fcntl.fcntl(descriptor, fcntl.F_GET_SEALS) & _FROZEN != _FROZEN:
            raise SealsChanged("failed to freeze a memory file: its seals can no longer change") from None
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        return False
    return True
