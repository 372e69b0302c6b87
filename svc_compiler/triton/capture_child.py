"""The process that runs a candidate's Python on tensors without memory. Entry of a sandboxed job, forked warm.

The payload is a line of JSON (`sources`, `main`, `entry_point`, `case`, `reference`, `answers`: lengths), then the
answers to what host code reads from the device. The trace goes to the descriptor `trace`. The candidate shares the
process: nothing here is a secret, and nothing that comes out is believed.
"""

from __future__ import annotations

import gc
import json
import mmap
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

# Torch, Triton and candidates import these when they first need them: here it is done before the fork.
import torch._dynamo
import triton.compiler.code_generator
import triton.experimental.gluon
import triton.language.extra.libdevice
import triton.tools.tensor_descriptor  # noqa: F401

from kernelvault.replay import reference_faults
from kernelvault.v1 import kernel_pb2, plan_pb2
from svc_compiler.triton import capture_trace, device_shim, fake_driver
from svc_compiler.triton.candidate import Entry, Misfit, flatten, load
from svc_compiler.triton.functions import Functions
from svc_compiler.triton.operators import Operators
from svc_compiler.triton.recording import NotCompilable, Recording, Unplannable

_MAX_MESSAGE = 2000


def main(payload: bytes, descriptors: dict[str, int]) -> int:
    """Captures two calls of the candidate. How it ended stands in the trace."""
    return run(payload, descriptors, Capture)


class Capture:
    """What a capture records with, and what its language adds to it."""

    def __init__(
        self, sources: Path, request: dict[str, Any], answers: list[bytes], descriptors: dict[str, int]
    ) -> None:
        self.recording = Recording(sources, answers)

    def begin(self, leave: Callable[[], None]) -> None:
        """Called before the candidate is loaded; `leave` is for a process that ends in the middle of a call."""

    def header(self) -> dict[str, Any]:
        """What the trace's header holds besides; called when everything is over."""
        return {}


def run(payload: bytes, descriptors: dict[str, int], make: Callable[..., Capture]) -> int:
    """Captures two calls of the candidate with what `make` gives."""
    head, _, data = payload.partition(b"\n")
    request = json.loads(head)
    answers = []
    for length in request["answers"]:
        answers.append(data[:length])
        data = data[length:]
    sources = Path(request["sources"]).resolve()
    gc.freeze()
    with mmap.mmap(descriptors["trace"], capture_trace.TRACE_BYTES) as memory:
        memory[: len(capture_trace.BEGUN)] = capture_trace.BEGUN
    capture = make(sources, request, answers, descriptors)
    functions = Functions(sources)

    def leave() -> None:
        capture.recording.stopped = True
        capture.recording.finish()
        _write(descriptors["trace"], capture, functions, None)

    fault = _capture(capture, functions, sources, request, leave)
    _write(descriptors["trace"], capture, functions, fault)
    return 0


def _capture(
    capture: Capture, functions: Functions, sources: Path, request: dict[str, Any], leave: Callable[[], None]
) -> Any:
    """Runs the candidate; gives what ended it, as `capture_trace.Fault`, or None."""
    recording = capture.recording
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    sys.dont_write_bytecode = True
    # Python keeps the folder that it found first.
    tempfile.tempdir = None
    case = kernel_pb2.Case.FromString(bytes.fromhex(request["case"]))
    fake_driver.install(fake_driver.Runtime(recording, functions))
    try:
        _follow_threads(recording)
        with device_shim.told(recording), Operators(recording):
            capture.begin(leave)
            module = load(sources, request["main"])
            entry = Entry(recording, module, request["entry_point"], case, request["reference"])
            for _ in range(capture_trace.CALLS):
                recording.begin_call()
                returned = entry.call()
                if recording.stopped:
                    break
                _take_results(recording, returned)
        recording.finish()
    except BaseException as error:
        return _fault(recording, error, sources)
    return None


def _follow_threads(recording: Recording) -> None:
    """Threads of the candidate are recorded like itself: torch's modes are a thread's own."""
    run = threading.Thread.run

    def followed(thread: threading.Thread) -> None:
        torch.set_grad_enabled(False)
        with device_shim.Answers(recording), Operators(recording):
            run(thread)

    threading.Thread.run = followed  # type: ignore[assignment,method-assign]


def _take_results(recording: Recording, returned: Any) -> None:
    call = recording.call
    tensors, call.other_results, call.returned_sequence = flatten(returned)
    with torch._C.DisableTorchFunction():
        call.results = [recording.result(tensor) for tensor in tensors]


def _fault(recording: Recording, error: BaseException, sources: Path) -> Any:
    recording.finish()
    if recording.stopped:
        return None
    message = str(error)[:_MAX_MESSAGE]
    if isinstance(error, Unplannable):
        recording.limitations.append(message)
        return None
    if isinstance(error, NotCompilable):
        return ["kernel", message, *error.place]
    if isinstance(error, Misfit | reference_faults.Unusable):
        return ["misfit" if isinstance(error, Misfit) else "reference", message, "", 0]
    if isinstance(error, SyntaxError) and str(error.filename or "").startswith(str(sources)):
        file = str(error.filename).removeprefix(str(sources)).lstrip("/")
        return ["syntax", f"{type(error).__name__}: {error.msg}"[:_MAX_MESSAGE], file, error.lineno or 0]
    file, line = _place(error, sources)
    kind = {MemoryError: "memory", SystemExit: "exit"}.get(type(error), "exception")
    return [kind, f"{type(error).__name__}: {message}".removesuffix(": "), file, line]


def _place(error: BaseException, sources: Path) -> tuple[str, int]:
    """The innermost line of the candidate that the error came through."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename.startswith(str(sources)):
            return frame.filename.removeprefix(str(sources)).lstrip("/"), frame.lineno or 0
    return "", 0


def _write(descriptor: int, capture: Capture, functions: Functions, fault: Any) -> None:
    recording = capture.recording
    header = {
        **capture.header(),
        "buffers": [[one.size, one.given, one.position, one.name] for one in recording.buffers],
        "calls": [
            {
                "first_buffer": call.first_buffer,
                "reads": [[read.position, read.what, read.answered] for read in call.reads],
                "other_results": call.other_results,
                "returned_sequence": call.returned_sequence,
            }
            for call in recording.calls
        ],
        "foreign": [[one.name, one.operator, one.place] for one in recording.foreign[: capture_trace.MAX_FOREIGN]],
        "limitations": recording.limitations,
        "notes": recording.notes,
        "properties": recording.properties,
        "fault": fault,
    }
    calls = [
        plan_pb2.LaunchPlan(operations=call.operations, results=[*(one.source for one in call.reads), *call.results])
        for call in recording.calls
    ]
    program = functions.program.SerializeToString(deterministic=True)
    trace = capture_trace.pack(header, program, [call.SerializeToString() for call in calls])
    if len(trace) > capture_trace.TRACE_BYTES:
        reason = f"host code does more than a recording holds ({len(trace)} bytes)"
        trace = capture_trace.pack({**header, "calls": [], "limitations": [reason]}, b"", [])
    with mmap.mmap(descriptor, capture_trace.TRACE_BYTES) as memory:
        memory[: len(trace)] = trace
