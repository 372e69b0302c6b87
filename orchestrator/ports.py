"""Ports of the loopback interface."""

from __future__ import annotations

import contextlib
import itertools
import random
import socket

HOST = "127.0.0.1"
_RANGE = range(20000, 32000)


def is_free(port: int) -> bool:
    """Whether a server could listen there now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def free(count: int) -> list[int]:
    """Different ports on which nobody listens now, outside of the range that the system gives to clients."""
    candidates = random.sample(_RANGE, len(_RANGE))
    return list(itertools.islice((port for port in candidates if is_free(port)), count))


def prefer(port: int) -> int:
    """`port` where it is free, else another one."""
    return port if is_free(port) else free(1)[0]


def answers(address: str) -> bool:
    """Whether somebody accepts connections at `address` (host:port)."""
    host, _, port = address.rpartition(":")
    with contextlib.suppress(OSError), socket.create_connection((host, int(port)), timeout=1):
        return True
    return False
