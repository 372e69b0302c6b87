"""Memory files: what a process hands to another without a shared folder and without trust."""

from __future__ import annotations

import fcntl
import mmap
import os

_FIXED = fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK
_FROZEN = _FIXED | fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SEAL


class StillWritable(Exception):
    """A memory file cannot be frozen: a process still maps it for writing."""


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

    Raises StillWritable while a process maps it for writing: collect after the child is gone.
    """
    try:
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _FROZEN)
    except PermissionError:
        if fcntl.fcntl(descriptor, fcntl.F_GET_SEALS) & _FROZEN != _FROZEN:
            raise StillWritable("failed to freeze a memory file: its seals can no longer change") from None
    except OSError as error:
        raise StillWritable(f"failed to freeze a memory file: {error.strerror}") from error
    size = os.fstat(descriptor).st_size
    if size == 0:
        return memoryview(b"")
    return memoryview(mmap.mmap(descriptor, size, prot=mmap.PROT_READ))
