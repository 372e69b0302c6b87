"""Makes TorchInductor believe in a gfx942: it asks torch for properties only, and launches nothing.

The patches stay for the life of the process, which must be one that does nothing else.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import torch
import torch._dynamo.device_interface
import torch._subclasses.fake_tensor
import torch.utils._triton
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase
from triton.runtime.driver import driver

ARCHITECTURE = "gfx942"
# Of an MI300X, https://www.amd.com/en/products/accelerators/instinct/mi300/mi300x.html.
_PROPERTIES = types.SimpleNamespace(
    name="AMD Instinct MI300X",
    multi_processor_count=304,
    major=9,
    minor=4,
    total_memory=192 << 30,
    gcnArchName=f"{ARCHITECTURE}:sramecc+:xnack-",
    warp_size=64,
    regs_per_multiprocessor=65536,
    max_threads_per_multi_processor=2048,
    max_threads_per_block=1024,
    shared_memory_per_block=65536,
    shared_memory_per_block_optin=65536,
    L2_cache_size=4 << 20,
)


class _Driver(DriverBase):  # type: ignore[misc]
    """Knows its target; loads nothing."""

    def __init__(self) -> None:
        self.utils = types.SimpleNamespace()

    @classmethod
    def is_active(cls) -> bool:
        return True

    def map_python_to_cpp_type(self, ty: str) -> str:
        return ty

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("hip", ARCHITECTURE, 64)

    def get_active_torch_device(self) -> torch.device:
        return torch.device("cuda", 0)

    def get_current_device(self) -> int:
        return 0

    def get_benchmarker(self) -> Callable[..., Any]:
        raise NotImplementedError("there is no device to measure on")


@functools.cache
def pretend() -> None:
    """Patches torch and Triton, once."""
    driver.set_active(_Driver())
    torch.version.hip = "7.0.0"
    answers: dict[str, Any] = {
        "is_available": True,
        "device_count": 1,
        "current_device": 0,
        "get_device_properties": _PROPERTIES,
        "get_compute_capability": ARCHITECTURE,
        "is_bf16_supported": True,
        "is_triton_capable": True,
        "raise_if_triton_unavailable": None,
        "get_raw_stream": 0,
        "synchronize": None,
        "exchange_device": -1,
        "maybe_exchange_device": -1,
        "set_device": None,
    }
    interface = torch._dynamo.device_interface.CudaInterface
    for name, value in answers.items():
        setattr(interface, name, staticmethod(_answer(value)))
    for name in ("get_device_properties", "current_device"):
        setattr(interface.Worker, name, staticmethod(_answer(answers[name])))
    torch.cuda.get_device_properties = _answer(_PROPERTIES)
    torch.cuda.get_device_capability = _answer((9, 4))
    torch.cuda.current_device = _answer(0)
    torch.cuda.is_initialized = _answer(False)
    torch._subclasses.fake_tensor.init_gpu_context = _answer(None)  # type: ignore[assignment]
    torch.utils._triton.has_triton = _answer(True)  # type: ignore[assignment]
    # Python's own operator wants a guard of the device, which this build of torch may lack.
    torch.Tensor.__invert__ = _invert  # type: ignore[method-assign, assignment]


def _invert(self: torch.Tensor) -> torch.Tensor:
    result: torch.Tensor = torch.ops.aten.bitwise_not.default(self)
    return result


def _answer(value: Any) -> Callable[..., Any]:
    return lambda *_arguments, **_named: value
