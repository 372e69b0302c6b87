"""What a recorder's trace tells: buffers, calls, their steps and results, and what went wrong."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from svc_compiler.recording.calls import Buffer


class Ordering(enum.IntEnum):
    """What orders the steps of several streams; see recorder/trace.h."""

    EVENT_MARKS = 0
    STREAM_WAITS = 1
    HOST_WAITS = 2
    HOST_AWAITS = 3
    HOST_WAITS_FOR_ALL = 4


@dataclass(frozen=True)
class View:
    """A tensor in the allocation that starts at `address`."""

    address: int
    dtype: str
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int


@dataclass(frozen=True, kw_only=True)
class OnStream:
    """A step on a stream; 0 is the default one."""

    stream: int = 0


@dataclass(frozen=True)
class Launch(OnStream):
    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    lds: int
    arguments: bytes
    # Offsets of words that are addresses of the host.
    host_pointers: tuple[int, ...]


@dataclass(frozen=True)
class Copy(OnStream):
    destination: int
    source: int
    size: int


@dataclass(frozen=True)
class Fill(OnStream):
    destination: int
    size: int
    pattern: bytes


@dataclass(frozen=True)
class Upload(OnStream):
    destination: int
    data: bytes


@dataclass(frozen=True)
class Convert(OnStream):
    source: View
    destination: View


@dataclass(frozen=True)
class Free(OnStream):
    address: int


@dataclass(frozen=True)
class Download(OnStream):
    """A copy from the device. The process ends at the first that is not answered."""

    source: View
    # The call that asked for it.
    what: str
    answered: bool


@dataclass(frozen=True)
class Sync:
    """What orders steps of several streams: an event and a stream, or a stream and an event, or one of them."""

    what: Ordering
    first: int
    second: int


Issued = Launch | Copy | Fill | Upload | Convert | Free | Download
Step = Issued | Sync


@dataclass
class Call:
    """What one call of the candidate did. Code that runs while the library is loaded counts to the first call."""

    # How many buffers there were before it.
    first_buffer: int = 0
    steps: list[Step] = field(default_factory=list)
    results: list[View] = field(default_factory=list)
    # Results that are no tensor on the device, in words.
    other_results: list[str] = field(default_factory=list)
    returned_sequence: bool = False


@dataclass
class Trace:
    """One run of the host code."""

    buffers: list[Buffer] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    # Streams that neither wait for the default one nor are waited for.
    streams_apart: set[int] = field(default_factory=set)
    properties: dict[str, int] = field(default_factory=dict)
    limitations: list[str] = field(default_factory=list)
    foreign_operators: list[str] = field(default_factory=list)
    # Those after which host code did not launch another kernel, knowing of them.
    failed_launches: list[tuple[str, str]] = field(default_factory=list)
    # How many of them host code was told of.
    seen_failures: int = 0
    # An address of device memory that host code touched, and whether it wrote.
    touch: tuple[int, bool] | None = None
    thrown: str | None = None
    # The functions that there are instead of the one that was called.
    missing_function: str | None = None
    overflow: bool = False
    ended: bool = False

    def recover(self) -> None:
        """Host code goes on after the failures that it has seen, as it would on a device."""
        del self.failed_launches[: self.seen_failures]
        self.seen_failures = 0

    @property
    def unanswered(self) -> Download | None:
        """The copy from the device at which the run stopped, if so."""
        last = self.calls[-1].steps[-1] if self.calls and self.calls[-1].steps else None
        return last if isinstance(last, Download) and not last.answered else None
