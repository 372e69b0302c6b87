"""Calls of a module's C++ functions, on the recording HIP runtime, inside the capturing process.

The recorder and the candidate's library have names that libtorch has, too (`at::`, `c10::`). They are loaded so that
each finds its own first, and that torch does not find theirs: RTLD_LOCAL and RTLD_DEEPBIND.
"""

from __future__ import annotations

import ctypes
import json
import operator
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from svc_compiler.hip import pasted, record_child
from svc_compiler.triton.recording import Recording, Unplannable

_MODE = os.RTLD_LOCAL | os.RTLD_DEEPBIND | os.RTLD_NOW
# What the recorder says of arguments that no overload takes.
_MISFIT = 2
_INT64 = range(-(1 << 63), 1 << 63)


class Native:
    """The recorder, and the library that was built of the module's extensions."""

    def __init__(self, request: Mapping[str, Any], trace: int, answers: int) -> None:
        self._recorder = ctypes.CDLL(request["recorder"], mode=_MODE)
        record_child.prepare(self._recorder, dict(request), trace, answers)
        self._recorder.recorder_call(0)
        self._library = ctypes.CDLL(request["library"], mode=_MODE)
        # The first is what happened while the library was loaded.
        self.calls = 1

    def allocate(self, size: int) -> int:
        """The address of new device memory; 0 for no bytes."""
        return self._recorder.recorder_buffer(size, 0, 0, b"") or 0

    def defines(self, name: str) -> bool:
        """Whether the library exports the function."""
        return bool(self._recorder.recorder_is_defined(name.encode()))

    def on_farewell(self, leave: Callable[[], None]) -> None:
        """`leave` is called before the process ends at a copy from the device that has no answer."""
        self._farewell = record_child.FAREWELL(leave)
        self._recorder.recorder_farewell(self._farewell)

    def end(self) -> None:
        """Notes that the process came to its end."""
        self._recorder.recorder_end()

    def call(self, recording: ModuleRecording, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """What the function returns, tensors as torch's; raises RuntimeError or TypeError, as pybind11 does."""
        self._begin()
        self._recorder.recorder_arguments_clear()
        for value in args:
            self._add(recording, value)
        for keyword, value in kwargs.items():
            self._add(recording, value)
            self._recorder.recorder_argument_keyword(keyword.encode())
        self._recorder.recorder_answers_skip(recording.taken)
        failed = self._recorder.recorder_invoke(name.encode())
        recording.taken = self._recorder.recorder_answers_taken()
        answer = self._recorder.recorder_returned().decode(errors="replace")
        if failed:
            raise (TypeError if failed == _MISFIT else RuntimeError)(pasted.origin(answer))
        return _returned(recording, json.loads(answer))

    def synchronize(self) -> None:
        """Host code waits for the device."""
        self._begin()
        self._recorder.hipDeviceSynchronize()

    def _begin(self) -> None:
        self._recorder.recorder_call(self.calls)
        self.calls += 1

    def _add(self, recording: ModuleRecording, value: Any) -> None:
        recorder = self._recorder
        if isinstance(value, torch.Tensor):
            self._add_tensor(recording, value)
        elif value is None:
            recorder.recorder_argument_none()
        elif isinstance(value, bool):
            recorder.recorder_argument_bool(value)
        elif isinstance(value, float):
            recorder.recorder_argument_floating(value)
        elif isinstance(value, str | torch.dtype | torch.device):
            recorder.recorder_argument_text(str(value).removeprefix("torch.").encode())
        elif isinstance(value, list | tuple):
            for item in value:
                self._add(recording, item)
            recorder.recorder_argument_list(len(value))
        elif hasattr(value, "__index__") and operator.index(value) in _INT64:
            recorder.recorder_argument_integer(operator.index(value))
        elif hasattr(value, "__float__"):
            recorder.recorder_argument_floating(float(value))
        else:
            raise Unplannable(
                f"host code passes a {type(value).__name__} to a function of an extension ({recording.place()})"
            )

    def _add_tensor(self, recording: ModuleRecording, tensor: torch.Tensor) -> None:
        if not tensor.is_meta:
            raise Unplannable(
                f"host code passes a tensor on the {tensor.device.type.upper()} to a function of an extension "
                f"({recording.place()}); move it to the GPU first"
            )
        memory = recording.buffers[recording.number(tensor)]
        view = recording.view(tensor)
        dims, strides = (ctypes.c_int64 * len(view.dims))(*view.dims), (ctypes.c_int64 * len(view.dims))(*view.strides)
        self._recorder.recorder_argument_tensor(
            memory.address, memory.size, view.dtype.encode(), len(view.dims), dims, strides, view.offset_elements
        )


class ModuleRecording(Recording):
    """A recording whose device memory is the recorder's, where there is one yet."""

    native: Native | None = None

    def storage(self, address: int, size: int) -> torch.UntypedStorage:
        """The storage at an address, which the library may have allocated."""
        for memory, storage in zip(self.buffers, self._storages, strict=True):
            if memory.address == address and memory.size == size and size:
                return storage  # type: ignore[no-any-return]
        storage = torch.UntypedStorage(size, device="meta")  # type: ignore[no-untyped-call]
        self._add(storage, address)
        return storage

    def _place(self, size: int) -> int:
        return self.native.allocate(size) if self.native else super()._place(size)


def _returned(recording: ModuleRecording, value: Any) -> Any:
    """What a function returned, as Python has it."""
    if isinstance(value, list):
        return [_returned(recording, item) for item in value]
    if not isinstance(value, dict):
        return value
    dtype = getattr(torch, value["dtype"])
    if not value["cuda"]:
        raise Unplannable(f"a function of an extension returns a tensor on the CPU ({recording.place()})")
    storage = recording.storage(value["address"], value["bytes"])
    with torch.utils._python_dispatch._disable_current_modes():
        tensor = torch.empty(0, dtype=dtype, device="meta")
        return tensor.set_(storage, value["offset"], value["sizes"], value["strides"])


def used_buffers(recording: Recording, value: Any) -> list[int]:
    """The buffers of all tensors in a call's arguments or results."""
    if isinstance(value, torch.Tensor):
        return [recording.number(value)] if value.is_meta else []
    if isinstance(value, list | tuple):
        return [number for item in value for number in used_buffers(recording, item)]
    return []
