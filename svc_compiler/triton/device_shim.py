"""What host code is told of the device: tensors on `meta` say that they are on `cuda:0`, an MI300X answers.

Properties that host code asks for are noted: the plan says what its author was told.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from kernelvault import devices
from svc_compiler.triton.recording import Recording

TARGET = "gfx942"
_GPU = devices.of("MI300X")
_DEVICE = torch.device("cuda", 0)
_META = torch.device("meta")
_CAPABILITY = (9, 4)
# Facts of CDNA that `devices` does not list: the ISA guide's registers of a compute unit, HIP's limits.
PROPERTIES: dict[str, int] = {
    "multi_processor_count": _GPU.compute_units,
    "total_memory": _GPU.memory_bytes,
    "shared_memory_per_block": _GPU.lds_bytes,
    "shared_memory_per_block_optin": _GPU.lds_bytes,
    "shared_memory_per_multiprocessor": _GPU.lds_bytes,
    "L2_cache_size": _GPU.l2_bytes // _GPU.dies,
    "clock_rate": int(_GPU.clock_hz / 1000),
    "memory_clock_rate": 1300000,
    "memory_bus_width": 8192,
    "regs_per_multiprocessor": 65536,
    "max_threads_per_multi_processor": 2048,
    "max_threads_per_block": 1024,
    "warp_size": 64,
    "major": _CAPABILITY[0],
    "minor": _CAPABILITY[1],
    "is_integrated": 0,
    "is_multi_gpu_board": 0,
}
_TEXTS = {"name": f"AMD Instinct {_GPU.name}", "gcnArchName": f"{TARGET}:sramecc+:xnack-"}


def on_meta(device: Any) -> Any:
    """A device as host code names it, `meta` if it is the GPU."""
    if isinstance(device, torch.device):
        return _META if device.type in ("cuda", "hip") else device
    if isinstance(device, str) and device.partition(":")[0] in ("cuda", "hip"):
        return _META
    return _META if isinstance(device, int) and not isinstance(device, bool) else device


class DeviceProperties:
    """What `torch.cuda.get_device_properties` gives; each question is noted."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    def __getattr__(self, name: str) -> Any:
        if name in _TEXTS:
            return _TEXTS[name]
        if name not in PROPERTIES:
            raise AttributeError(f"'_CudaDeviceProperties' object has no attribute '{name}'")
        self._recording.properties[name] = PROPERTIES[name]
        return PROPERTIES[name]


class Stream:
    """A stream or an event: everything happens in the order of its issue."""

    cuda_stream = stream_id = 0
    device_index = 0
    device = _DEVICE

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream)

    def __hash__(self) -> int:
        return 0

    def query(self) -> bool:
        """Nothing is ever pending."""
        return True

    def elapsed_time(self, end: Any) -> float:
        """Milliseconds: nothing was measured, all are equal."""
        return 1.0

    def record_event(self, event: Any = None) -> Any:
        """The event itself."""
        return event or Stream()

    def _nothing(self, *args: Any, **kwargs: Any) -> None:
        pass

    synchronize = wait = record = wait_stream = wait_event = _nothing


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
    _T.record_stream: lambda recording, func, args, kwargs: None,
    _T.__deepcopy__: _deepcopy,
    torch.tensor: _host_first,
    torch.as_tensor: _host_first,
    torch.asarray: _host_first,
    **dict.fromkeys((_T.item, _T.tolist, _T.__bool__, _T.__int__, _T.__float__, _T.__index__, _T.__complex__), _values),
}

# Functions of torch.cuda that do nothing here.
_NOTHING = (
    *("synchronize", "set_device", "empty_cache", "ipc_collect", "init", "_lazy_init", "set_stream"),
    *("manual_seed", "manual_seed_all", "seed", "seed_all"),
    *("reset_peak_memory_stats", "reset_max_memory_allocated"),
)


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


def answer_cuda(recording: Any) -> None:
    """torch.cuda tells of an MI300X; what is asked of its properties is noted in `recording.properties`."""
    properties = DeviceProperties(recording)
    constants: dict[str, Any] = {
        "is_available": True,
        "device_count": 1,
        "current_device": 0,
        "is_initialized": True,
        "get_device_properties": properties,
        "get_device_capability": _CAPABILITY,
        "get_device_name": _TEXTS["name"],
        "get_arch_list": [TARGET],
        "is_bf16_supported": True,
        "memory_allocated": 0,
        "max_memory_allocated": 0,
        "memory_reserved": 0,
        "max_memory_reserved": 0,
        "mem_get_info": (_GPU.memory_bytes, _GPU.memory_bytes),
        "is_current_stream_capturing": False,
        **dict.fromkeys(_NOTHING),
    }
    for name, value in constants.items():
        setattr(torch.cuda, name, lambda *args, _value=value, **kwargs: _value)
    for name in ("Stream", "ExternalStream", "Event", "device", "device_of", "_DeviceGuard"):
        setattr(torch.cuda, name, type(name, (Stream,), {}))
    for name in ("current_stream", "default_stream", "stream"):
        setattr(torch.cuda, name, lambda *args, **kwargs: Stream())
    setattr(torch._C, "_cuda_getCurrentRawStream", lambda index=0: 0)  # noqa: B010 torch declares it otherwise
    torch.version.hip, torch.version.cuda = "7.0.0", None
    torch.Generator = _Generator  # type: ignore[misc]


_set_default_device = torch.set_default_device
_default_device = torch.get_default_device


class _Generator(torch.Generator):
    """A generator of the host: random numbers on the device are an operator that a plan does not have."""

    def __new__(cls, device: Any = "cpu") -> _Generator:
        place = torch.device("cpu") if on_meta(device) == _META else device
        return super().__new__(cls, place)  # type: ignore[call-arg]
