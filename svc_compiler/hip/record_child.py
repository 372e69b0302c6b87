"""The process that runs a candidate's host code once, on the recorder. Entry of a sandboxed job; ctypes, no torch.

The payload is JSON: `recorder` and `library` (paths), `entry`, `torch` (which format), `base`, `spacing`, `noise`,
`trace_bytes`, `answers_bytes`, `layouts` (kernel: offsets and sizes, alternating), `arguments` and `outputs` (see
`recording_request`). The trace goes to the descriptor `trace`; what copies from the device give comes from `answers`.
The candidate shares the process: nothing here is a secret, and nothing that comes out is believed.
"""

from __future__ import annotations

import ctypes
import json
from typing import Any

# Two calls in one process: host code that keeps state between them shows.
CALLS = 2
# What the recorder calls before it ends the process at a copy without an answer.
FAREWELL = ctypes.CFUNCTYPE(None)
_INPUT, _OUTPUT = 1, 2


def main(payload: bytes, descriptors: dict[str, int]) -> int:
    """Records CALLS calls of the candidate. How it ended stands in the trace."""
    request = json.loads(payload)
    recorder = ctypes.CDLL(request["recorder"], mode=ctypes.RTLD_GLOBAL)
    prepare(recorder, request, descriptors["trace"], descriptors["answers"])
    recorder.recorder_call(0)
    library = ctypes.CDLL(request["library"])
    for call in range(CALLS):
        if call:
            recorder.recorder_call(call)
        if not (_call_function if request["torch"] else _call_launcher)(recorder, library, request):
            break
    recorder.recorder_end()
    return 0


def prepare(recorder: ctypes.CDLL, request: dict[str, Any], trace: int, answers: int) -> None:
    """Opens the trace and the answers, and tells the recorder of the device and the kernels, as the request has it."""
    _declare(recorder)
    recorder.recorder_open(trace, request["trace_bytes"], request["base"], request["spacing"], request["noise"])
    recorder.recorder_answers(answers, request["answers_bytes"])
    name, target, *numbers = request["device"]
    recorder.recorder_device(name.encode(), target.encode(), _words(numbers))
    for kernel, words in request["layouts"].items():
        recorder.recorder_layout(kernel.encode(), (ctypes.c_uint64 * len(words))(*words), len(words) // 2)


def _declare(recorder: ctypes.CDLL) -> None:
    """Types of the recorder's functions: ctypes would pass and return ints of 32 bits."""
    word, text, address = ctypes.c_uint64, ctypes.c_char_p, ctypes.c_void_p
    words = ctypes.POINTER(ctypes.c_int64)
    for name, result, parameters in (
        ("recorder_open", None, (ctypes.c_int, word, word, word, word)),
        ("recorder_answers", None, (ctypes.c_int, word)),
        ("recorder_answers_skip", None, (word,)),
        ("recorder_answers_taken", word, ()),
        ("recorder_farewell", None, (FAREWELL,)),
        ("recorder_device", None, (text, text, words)),
        ("recorder_layout", None, (text, ctypes.POINTER(word), word)),
        ("recorder_buffer", address, (word, word, word, text)),
        ("recorder_call", None, (word,)),
        ("recorder_missing", None, (text,)),
        ("recorder_convert", None, (address, address, text, word, words, words, ctypes.c_int64)),
        ("recorder_arguments_clear", None, ()),
        ("recorder_argument_tensor", None, (address, word, text, word, words, words, ctypes.c_int64)),
        ("recorder_argument_integer", None, (ctypes.c_int64,)),
        ("recorder_argument_bool", None, (ctypes.c_int,)),
        ("recorder_argument_floating", None, (ctypes.c_double,)),
        ("recorder_call_function", ctypes.c_int, (text,)),
        ("recorder_functions", text, ()),
        ("recorder_argument_none", None, ()),
        ("recorder_argument_text", None, (text,)),
        ("recorder_argument_list", None, (word,)),
        ("recorder_argument_keyword", None, (text,)),
        ("recorder_is_defined", ctypes.c_int, (text,)),
        ("recorder_invoke", ctypes.c_int, (text,)),
        ("recorder_returned", text, ()),
    ):
        function = getattr(recorder, name)
        function.restype, function.argtypes = result, parameters


def _buffer(recorder: ctypes.CDLL, argument: dict[str, Any], role: int, position: int) -> int | None:
    pointer: int | None = recorder.recorder_buffer(argument["bytes"], role, position, argument["name"].encode())
    return pointer


def _words(values: list[int]) -> Any:
    return (ctypes.c_int64 * len(values))(*values)


def _call_launcher(recorder: ctypes.CDLL, library: ctypes.CDLL, request: dict[str, Any]) -> bool:
    """Calls an `extern "C"` launcher: tensors, scalars, sizes, outputs, stream (docs/candidates.md)."""
    tensors, scalars, sizes, outputs = [], [], [], []
    for position, argument in enumerate(request["arguments"]):
        if "dtype" not in argument:
            scalars.append(_scalar(argument))
            continue
        pointer = _buffer(recorder, argument, _INPUT, position)
        if argument["contiguous_bytes"]:  # a strided input reaches a launcher as a contiguous copy
            pointer = _contiguous(recorder, argument, pointer)
        tensors.append(ctypes.c_void_p(pointer))
        sizes += [ctypes.c_int64(size) for size in argument["dims"]]
    for position, output in enumerate(request["outputs"]):
        outputs.append(ctypes.c_void_p(_buffer(recorder, output, _OUTPUT, position)))
    try:
        launcher = getattr(library, request["entry"])
    except AttributeError:
        recorder.recorder_missing(b"")
        return False
    launcher.restype = None
    launcher(*tensors, *scalars, *sizes, *outputs, ctypes.c_void_p(None))
    return True


def _scalar(argument: dict[str, Any]) -> Any:
    if "bool" in argument:
        return ctypes.c_bool(argument["bool"])
    return ctypes.c_int64(argument["int"]) if "int" in argument else ctypes.c_double(float(argument["float"]))


def _contiguous(recorder: ctypes.CDLL, argument: dict[str, Any], source: int | None) -> int | None:
    copy: int | None = recorder.recorder_buffer(argument["contiguous_bytes"], 0, 0, argument["name"].encode())
    dims, strides = _words(argument["dims"]), _words(argument["strides"])
    rank, offset = len(argument["dims"]), argument["offset"]
    recorder.recorder_convert(source, copy, argument["dtype"].encode(), rank, dims, strides, offset)
    return copy


def _call_function(recorder: ctypes.CDLL, library: ctypes.CDLL, request: dict[str, Any]) -> bool:
    """Calls a function that PYBIND11_MODULE exports, with tensors as they stand and scalars."""
    recorder.recorder_arguments_clear()
    for position, argument in enumerate(request["arguments"]):
        if "dtype" in argument:
            _pass_tensor(recorder, argument, _buffer(recorder, argument, _INPUT, position))
        elif "bool" in argument:
            recorder.recorder_argument_bool(argument["bool"])
        elif "int" in argument:
            recorder.recorder_argument_integer(argument["int"])
        else:
            recorder.recorder_argument_floating(float(argument["float"]))
    if recorder.recorder_call_function(request["entry"].encode()):
        return True
    recorder.recorder_missing(recorder.recorder_functions() or b"")
    return False


def _pass_tensor(recorder: ctypes.CDLL, argument: dict[str, Any], pointer: int | None) -> None:
    dims, strides = _words(argument["dims"]), _words(argument["strides"])
    recorder.recorder_argument_tensor(
        pointer, argument["bytes"], argument["dtype"].encode(), len(argument["dims"]), dims, strides, argument["offset"]
    )
