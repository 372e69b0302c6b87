"""What copies from the device gave so far, and what host code did before each of them.

Host code is recorded again with each answer. What it does before a copy cannot depend on what that gives: where it
changes, the answers are not what the copies of the new recording would give, and nothing can be said.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from kernelvault.replay import bundle
from svc_compiler.recording import verdicts
from svc_compiler.recording.buffers import shape_of_call
from svc_compiler.recording.calls import Assembled, Buffer, Read

# Of one case.
MAX_DOWNLOADS = 64
MAX_ANSWER_BYTES = 1 << 20
_LENGTH = struct.Struct("<Q")


class Answers:
    """The answers to a case's copies from the device, in order."""

    def __init__(self) -> None:
        self.given: list[bytes] = []
        self._asked: list[tuple[int, str, bytes]] = []
        self._before: list[bytes] = []

    def pack(self) -> bytes:
        """The file that the recorder reads, see recorder/downloads.h."""
        packed = b"".join(_LENGTH.pack(len(answer)) + answer for answer in self.given)
        # Of one size, so that the process that maps it looks the same each time.
        return packed.ljust(MAX_DOWNLOADS * _LENGTH.size + MAX_ANSWER_BYTES, b"\0")

    def follow(self, buffers: Sequence[Buffer], call: Assembled) -> Read | None:
        """The copy that has no answer yet, if any.

        Raises Refused(NEEDS_DEVICE) where the recording is no continuation of the one before it.
        """
        asked = [(read.position, read.what, read.source.SerializeToString()) for read in call.reads]
        pending = call.reads[-1] if call.reads and not call.reads[-1].answered else None
        before = shape_of_call(
            buffers, call.operations[: call.reads[-1].position if call.reads else 0], [], scalars=True
        )
        new = len(asked) - (pending is not None)
        same = asked[: len(self._asked)] == self._asked and before[: len(self._before)] == self._before
        if not same or new != len(self.given):
            raise verdicts.unplannable("host code does something else each time that it is recorded")
        self._asked, self._before = asked, before
        return pending

    def make_room(self, read: Read) -> None:
        """Raises Refused(NEEDS_DEVICE) unless one more answer is allowed."""
        if len(self.given) == MAX_DOWNLOADS:
            raise verdicts.unplannable(f"host code copies from the device more than {MAX_DOWNLOADS} times")
        view = read.source.view
        size = bundle.element_count(view.dims) * bundle.element_bytes(view.dtype)
        total = size + sum(map(len, self.given))
        if total > MAX_ANSWER_BYTES:
            raise verdicts.unplannable(
                f"host code copies {total} bytes from the device ({read.what}); at most {MAX_ANSWER_BYTES} can be "
                "answered"
            )


def limitations(reads: Sequence[Read]) -> list[str]:
    """Why a plan holds for its inputs only."""
    return [f"host code reads device memory ({what})" for what in dict.fromkeys(read.what for read in reads)]
