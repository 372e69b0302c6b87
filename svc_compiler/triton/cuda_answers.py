"""What torch.cuda tells host code: there is one device, an MI300X, and everything happens in the order of its issue.

Properties that host code asks for are noted: the plan says what its author was told.
"""

from __future__ import annotations

from typing import Any

import torch

from kernelvault import devices
from svc_compiler.triton.recording import Unplannable

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

    def __init__(self, recording: Any) -> None:
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


# Functions of torch.cuda that do nothing here.
_NOTHING = (
    *("synchronize", "set_device", "empty_cache", "ipc_collect", "init", "_lazy_init", "set_stream"),
    *("manual_seed", "manual_seed_all", "seed", "seed_all", "set_rng_state", "set_rng_state_all"),
    *("reset_peak_memory_stats", "reset_max_memory_allocated"),
)
# What a plan cannot hold.
_BEYOND = ("CUDAGraph", "graph", "make_graphed_callables", "MemPool", "use_mem_pool", "CUDAPluggableAllocator")


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
        "memory_stats": {},
        "memory_summary": "",
        "is_current_stream_capturing": False,
        **dict.fromkeys(_NOTHING),
    }
    for name, value in constants.items():
        setattr(torch.cuda, name, lambda *args, _value=value, **kwargs: _value)
    for name in ("Stream", "ExternalStream", "Event", "device", "device_of", "_DeviceGuard"):
        setattr(torch.cuda, name, type(name, (Stream,), {}))
    for name in ("current_stream", "default_stream", "stream"):
        setattr(torch.cuda, name, lambda *args, **kwargs: Stream())
    for name in _BEYOND:
        setattr(torch.cuda, name, _refuse(f"torch.cuda.{name}"))
    for name in ("range_push", "range_pop", "range_start", "range_end", "mark"):
        setattr(torch.cuda.nvtx, name, lambda *args, **kwargs: 0)
    torch.cuda.get_rng_state = lambda device=None: torch.get_rng_state()
    torch.cuda.get_rng_state_all = lambda: [torch.get_rng_state()]
    torch.Tensor.record_stream = lambda tensor, stream: None  # type: ignore[assignment,method-assign]
    setattr(torch._C, "_cuda_getCurrentRawStream", lambda index=0: 0)  # noqa: B010 torch declares it otherwise
    torch.version.hip, torch.version.cuda = "7.0.0", None
    torch.Generator = _Generator  # type: ignore[misc]


def _refuse(name: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise Unplannable(f"host code uses {name}")

    return refuse


class _Generator(torch.Generator):
    """A generator of the host: random numbers on the device are an operator that a plan does not have."""

    def __new__(cls, device: Any = "cpu") -> _Generator:
        place = torch.device("cpu") if on_meta(device) == _META else device
        return super().__new__(cls, place)  # type: ignore[call-arg]
