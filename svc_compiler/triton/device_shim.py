"""Tensors on `meta` say that they are on `cuda:0`, and requests for a GPU go to `meta`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from svc_compiler.triton.cuda_answers import answer_cuda, on_meta
from svc_compiler.triton.recording import Recording

_DEVICE = torch.device("cuda", 0)
_META = torch.device("meta")


class Answers(TorchFunctionMode):
    """Turns requests for the GPU to `meta`, and questions about tensors back."""

    def __init__(self, recording: Recording) -> None:
        super().__init__()
        self._recording = recording

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Answers, or calls `func` and lets the recording know which function it is."""
        kwargs = kwargs or {}
        answer = _ANSWERS.get(func)
        if answer is not None:
            return answer(self._recording, func, args, kwargs)
        if "device" in kwargs:
            kwargs = {**kwargs, "device": on_meta(kwargs["device"])}
        if kwargs.get("pin_memory"):
            kwargs = {**kwargs, "pin_memory": False}
        outer, self._recording.function = self._recording.function, func
        try:
            return func(*args, **kwargs)
        finally:
            self._recording.function = outer


def _question(native: Any, value: Any) -> Callable[..., Any]:
    """A question whose answer for tensors on the device is `value`."""

    def answer(recording: Recording, func: Any, args: Any, kwargs: Any) -> Any:
        return value if args[0].is_meta else func(*args, **kwargs)

    return answer


def _data_ptr(recording: Recording, func: Any, args: Any, kwargs: Any) -> Any:
    return recording.address(args[0]) if args[0].is_meta else func(*args, **kwargs)


def _type(recording: Recording, func: Any, args: Any, kwargs: Any) -> Any:
    text = func(*args, **kwargs)
    return text.replace("torch.meta.", "torch.cuda.", 1) if isinstance(text, str) else text


def _to(recording: Recording, func: Any, args: Any, kwargs: Any) -> Any:
    args = [args[0], *(argument if isinstance(argument, torch.Tensor) else on_meta(argument) for argument in args[1:])]
    if "device" in kwargs:
        kwargs = {**kwargs, "device": on_meta(kwargs["device"])}
    return func(*args, **kwargs)


def _cuda(recording: Recording, func: Any, args: Any, kwargs: Any) -> Any:
    return args[0].to(_META)


def _host_first(recording: Recording, func: Any, args: Any, kwargs: Any) -> Any:
    """`torch.tensor(..., device="cuda")`: made on the host and sent."""
    device = on_meta(kwargs.get("device"))
    if device is None and _default_device() == _META:
        device = _META
    rest = {key: value for key, value in kwargs.items() if key not in ("device", "pin_memory")}
    if device == _META and not (args and isinstance(args[0], torch.Tensor) and args[0].is_meta):
        return func(*args, **rest, device="cpu").to(_META)
    return func(*args, **({**rest, "device": device} if device is not None else rest))


def _same(recording: Recording, func: Any, args: Any, kwargs: Any) -> Any:
    return args[0]


def _values(recording: Recording, func: Any, args: Any, kwargs: Any) -> Any:
    """A method that takes its tensor to the host."""
    tensor = args[0]
    if tensor.is_meta:
        with torch._C.DisableTorchFunction():
            tensor = recording.read(tensor, func.__name__.strip("_"))
    return func(tensor, *args[1:], **kwargs)


def _deepcopy(recording: Recording, func: Any, args: Any, kwargs: Any) -> Any:
    tensor, memo = args
    if not tensor.is_meta:
        return func(*args, **kwargs)
    copied = tensor.detach().clone()
    if isinstance(tensor, torch.nn.Parameter):
        copied = torch.nn.Parameter(copied, requires_grad=tensor.requires_grad)
    memo[id(tensor)] = copied
    return copied


_T = torch.Tensor
_ANSWERS: dict[Any, Callable[..., Any]] = {
    _T.device.__get__: _question(_T.device, _DEVICE),
    _T.is_cuda.__get__: _question(_T.is_cuda, True),  # type: ignore[attr-defined]
    _T.is_meta.__get__: _question(_T.is_meta, False),  # type: ignore[attr-defined]
    _T.get_device: _question(_T.get_device, 0),
    _T.is_pinned: _question(_T.is_pinned, False),
    _T.data_ptr: _data_ptr,
    _T.type: _type,
    _T.to: _to,
    _T.cuda: _cuda,
    _T.pin_memory: _same,
    _T.__deepcopy__: _deepcopy,
    torch.tensor: _host_first,
    torch.as_tensor: _host_first,
    torch.asarray: _host_first,
    **dict.fromkeys((_T.item, _T.tolist, _T.__bool__, _T.__int__, _T.__float__, _T.__index__, _T.__complex__), _values),
}


@contextlib.contextmanager
def told(recording: Recording) -> Iterator[None]:
    """Host code that runs meanwhile sees a GPU. For the rest of the process: nothing of torch.cuda is put back."""
    answer_cuda(recording)

    def data_ptr(storage: Any) -> int:
        return recording.storage_address(storage)

    torch.UntypedStorage.data_ptr = data_ptr  # type: ignore[assignment,method-assign]
    torch.set_default_device = lambda device: _set_default_device(on_meta(device))
    torch.get_default_device = lambda: _DEVICE if _default_device() == _META else _default_device()
    with Answers(recording):
        yield


_set_default_device = torch.set_default_device
_default_device = torch.get_default_device
