"""How a kernel fails while it is interpreted, and where it was then."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType, TracebackType

import numpy
import triton

import kernelvault

_OURS = tuple(f"{Path(module).parent}/" for module in (kernelvault.__file__, triton.__file__, numpy.__file__))


class AssertionFailed(Exception):
    """An assertion of the kernel's does not hold; the message is its own."""


class TooMuchWork(Exception):
    """The launches cost more than the interpreter may spend; the message says how much more."""


def is_of_kernel(file: str) -> bool:
    """Whether code of this file is the author's, rather than Triton's or the interpreter's."""
    return not file.startswith(_OURS) and not file.startswith("<")


def line_of_access() -> tuple[str, int]:
    """File and line of the author's code that is running now, the innermost; ("", 0) if none is."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if is_of_kernel(frame.f_code.co_filename):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return "", 0


def line_of_error(traceback: TracebackType | None) -> tuple[str, int]:
    """File and line of the author's code in which an exception was raised, the innermost; ("", 0) if none is."""
    place = ("", 0)
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if is_of_kernel(code.co_filename):
            place = (code.co_filename, traceback.tb_lineno)
        traceback = traceback.tb_next
    return place
