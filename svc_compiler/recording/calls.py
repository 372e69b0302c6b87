"""Calls of a candidate as they were recorded: what they did, in which buffers, and what they read."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kernelvault.v1 import plan_pb2


class Role(enum.IntEnum):
    SCRATCH = 0
    INPUT = 1
    OUTPUT = 2
    PINNED = 3
    VARIABLE = 4


@dataclass(frozen=True)
class Buffer:
    """A range of device memory. Address 0: it has no bytes."""

    address: int
    size: int
    role: Role
    position: int
    name: str


class Read(NamedTuple):
    """A copy from the device: what is read, after how many operations of its call, by which function."""

    position: int
    source: plan_pb2.Result
    what: str
    answered: bool
    # Operations that its stream does not wait for.
    unawaited: Sequence[int] = ()


class Assembled(NamedTuple):
    """A call as both runs made it."""

    operations: list[plan_pb2.Operation]
    results: list[plan_pb2.Result]
    reads: list[Read]
    # Operations that the caller's stream does not wait for.
    unawaited: Sequence[int] = ()
