"""What a recorder's trace tells: buffers, calls, their steps and results, and what went wrong."""

from __future__ import annotations

from dataclasses import dataclass, field

from svc_compiler.recording.calls import Buffer


@dataclass(frozen=True)
class View:
    """A tensor in the allocation that starts at `address`."""

    address: int
    dtype: str
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int


@dataclass(frozen=True)
class Launch:
    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    lds: int
    arguments: bytes
    # Offsets of words that are addresses of the host.
    host_pointers: tuple[int, ...]


@dataclass(frozen=True)
class Copy:
    destination: int
    source: int
    size: int


@dataclass(frozen=True)
class Fill:
    destination: int
    size: int
    pattern: bytes


@dataclass(frozen=True)
class Upload:
    destination: int
    data: bytes


@dataclass(frozen=True)
class Convert:
    source: View
    destination: View


@dataclass(frozen=True)
class Free:
    address: int


@dataclass(frozen=True)
class Download:
    """A copy from the device. The process ends at the first that is not answered."""

    source: View
    # The call that asked for it.
    what: str
    answered: bool


Step = Launch | Copy | Fill | Upload | Convert | Free | Download


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
    properties: dict[str, int] = field(default_factory=dict)
    limitations: list[str] = field(default_factory=list)
    foreign_operators: list[str] = field(default_factory=list)
    failed_launches: list[tuple[str, str]] = field(default_factory=list)
    # An address of device memory that host code touched, and whether it wrote.
    touch: tuple[int, bool] | None = None
    thrown: str | None = None
    # The functions that there are instead of the one that was called.
    missing_function: str | None = None
    overflow: bool = False
    ended: bool = False

    @property
    def unanswered(self) -> Download | None:
        """The copy from the device at which the run stopped, if so."""
        last = self.calls[-1].steps[-1] if self.calls and self.calls[-1].steps else None
        return last if isinstance(last, Download) and not last.answered else None
