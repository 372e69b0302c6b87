"""Landlock: which files a process may reach, no TCP, no signals to others (landlock(7))."""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterable

from kernelvault.sandbox import libc

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_CREATE_RULESET_VERSION = 1
_RULE_PATH_BENEATH = 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REMOVE_DIR, REMOVE_FILE, MAKE_DIR, MAKE_REG = 1 << 4, 1 << 5, 1 << 7, 1 << 8
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
# Everything up to MAKE_SYM, and what came with ABI 2 and 3.
_HANDLED = (1 << 13) - 1 | REFER | TRUNCATE
_FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
_NET_BIND_TCP, _NET_CONNECT_TCP = 1, 2
_SCOPE_ABSTRACT_UNIX_SOCKET, _SCOPE_SIGNAL = 1, 2

READ = EXECUTE | READ_FILE | READ_DIR
# No MAKE_SYM, MAKE_SOCK, MAKE_FIFO, MAKE_CHAR, MAKE_BLOCK: whoever reads the folder later must not be led elsewhere.
OWN = WRITE_FILE | READ_FILE | READ_DIR | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | REFER | TRUNCATE

# The ABI that handles truncation and TCP, below which a sandbox would leak.
REQUIRED_ABI = 4
# From here on signals are scoped to the sandbox.
SIGNAL_SCOPE_ABI = 6


def abi() -> int:
    """The kernel's Landlock ABI; 0 where there is none."""
    try:
        return libc.syscall(_CREATE_RULESET, None, 0, _CREATE_RULESET_VERSION)
    except OSError:
        return 0


def restrict(rules: Iterable[tuple[str, int]], version: int) -> None:
    """Restricts the calling thread, for good, to `rules`: paths with the rights beneath them.

    Raises OSError; a path that does not exist is left out. `no_new_privs` must be set.
    """
    ruleset = _create(version)
    try:
        for path, rights in rules:
            _add(ruleset, path, rights)
        libc.syscall(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _create(version: int) -> int:
    files = _HANDLED | (IOCTL_DEV if version >= 5 else 0)
    words = [files, _NET_BIND_TCP | _NET_CONNECT_TCP]
    if version >= SIGNAL_SCOPE_ABI:
        words.append(_SCOPE_ABSTRACT_UNIX_SOCKET | _SCOPE_SIGNAL)
    attributes = struct.pack(f"={len(words)}Q", *words)
    return libc.syscall(_CREATE_RULESET, attributes, len(attributes), 0)


def _add(ruleset: int, path: str, rights: int) -> None:
    try:
        target = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(target).st_mode):
            rights &= _FILE_RIGHTS
        libc.syscall(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, struct.pack("=Qi", rights, target), 0)
    finally:
        os.close(target)
