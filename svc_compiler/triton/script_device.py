"""A script's device: its tensors lie in the host's memory and say that they are on `cuda:0`, an MI300X answers.

In contrast to `device_shim`, whose tensors have no values: a script's own tests look at them.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from svc_compiler.triton import cuda_answers

_GPU = torch.device("cuda", 0)
_HOST = torch.device("cpu")
_T = torch.Tensor


@dataclasses.dataclass
class Notes:
    """What a script was told, and what there is to say of its recording; see `recording.Recording`."""

    properties: dict[str, int] = dataclasses.field(default_factory=dict)
    notes: list[str] = dataclasses.field(default_factory=list)
    # Whether what happens now is no part of the script: an autotuner tries.
    apart: bool = False

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """What happens meanwhile is an autotuner's."""
        outer, self.apart = self.apart, True
        try:
            yield
        finally:
            self.apart = outer


class OnHost(TorchFunctionMode):
    """Turns requests for the GPU to the host, and questions about tensors back."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """See TorchFunctionMode."""
        kwargs = dict(kwargs or {})
        if func in _ANSWERS:
            return _ANSWERS[func](*args, **kwargs)
        if "device" in kwargs:
            kwargs["device"] = on_host(kwargs["device"])
        if kwargs.get("pin_memory"):
            kwargs["pin_memory"] = False
        args = tuple(on_host(one) if isinstance(one, str | torch.device) else one for one in args)
        if func is _T.to and len(args) > 1 and type(args[1]) is int:
            args = (args[0], _HOST, *args[2:])
        # Fresh memory holds zeros: a script does the same each time.
        return func(*args, **kwargs).zero_() if func in _UNWRITTEN else func(*args, **kwargs)


class GpuGenerator:
    """The state of a GPU's random numbers, as scripts read it: a seed and how far it was used."""

    def __init__(self, seed: int) -> None:
        self._state = torch.tensor([seed, 0], dtype=torch.int64)

    def get_state(self) -> torch.Tensor:
        """Both numbers, as bytes."""
        return self._state.clone().view(torch.uint8)

    def set_state(self, state: torch.Tensor) -> None:
        """From what `get_state` gave."""
        self._state = state.clone().view(torch.int64)

    def initial_seed(self) -> int:
        """The seed."""
        return int(self._state[0])

    def manual_seed(self, seed: int) -> GpuGenerator:
        """Begins anew."""
        self._state = torch.tensor([seed, 0], dtype=torch.int64)
        return self


def on_host(device: Any) -> Any:
    """A device as a script names it, the host if it is the GPU."""
    if isinstance(device, torch.device):
        return _HOST if device.type in ("cuda", "hip") else device
    if isinstance(device, str):
        return "cpu" if device.partition(":")[0] in ("cuda", "hip") else device
    return _HOST if type(device) is int else device


def _device(tensor: torch.Tensor) -> torch.device:
    device = _T.device.__get__(tensor)
    return _GPU if device.type == "cpu" else device


def _type(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    if args and isinstance(args[0], str):
        args = (args[0].replace("torch.cuda.", "torch.", 1), *args[1:])
    text = tensor.type(*args, **kwargs)
    return text.replace("torch.", "torch.cuda.", 1) if isinstance(text, str) else text


_UNWRITTEN = frozenset({torch.empty, torch.empty_like, torch.empty_strided, _T.new_empty, _T.new_empty_strided})
_ANSWERS: dict[Any, Callable[..., Any]] = {
    _T.device.__get__: _device,
    _T.is_cuda.__get__: lambda tensor: True,  # type: ignore[attr-defined]
    _T.get_device: lambda tensor: 0,
    _T.is_pinned: lambda tensor, *args: False,
    _T.cuda: lambda tensor, *args, **kwargs: tensor,
    _T.pin_memory: lambda tensor, *args: tensor,
    _T.record_stream: lambda tensor, stream: None,
    _T.type: _type,
}


@contextlib.contextmanager
def told(notes: Notes) -> Iterator[None]:
    """A script that runs meanwhile sees a GPU. For the rest of the process: nothing of torch.cuda is put back."""
    address_of_storage = torch.UntypedStorage.data_ptr
    cuda_answers.answer_cuda(notes)
    # Its tensors have no memory, a script's have.
    torch.UntypedStorage.data_ptr = address_of_storage  # type: ignore[method-assign]
    torch.set_default_device = lambda device: None
    torch.cuda.default_generators = (GpuGenerator(0),)  # type: ignore[assignment]
    guards: Any = torch._C._dynamo.guards
    guards._empty_strided_cuda = lambda size, stride, dtype: torch.empty_strided(size, stride, dtype=dtype)
    with OnHost():
        yield
