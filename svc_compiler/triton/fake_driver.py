"""Triton's runtime without a GPU: its own binder, heuristics and autotuner run, up to the compilation of a kernel.

In its place stands a kernel whose launches are recorded. It is compiled where host code asks for something that only
compilation tells, such as its registers.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
import triton
import triton.testing
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase
from triton.compiler import ASTSource, make_backend
from triton.runtime.autotuner import Autotuner
from triton.runtime.driver import driver as drivers
from triton.runtime.jit import JITFunction

from kernelvault.v1 import plan_pb2
from svc_compiler.triton import launches
from svc_compiler.triton.cuda_answers import PROPERTIES, TARGET
from svc_compiler.triton.functions import Functions, Specialisation
from svc_compiler.triton.recording import Recording

# Of an autotuned kernel, the chosen one among them.
MAX_CONFIGURATIONS = 24
_TARGET = GPUTarget("hip", TARGET, 64)
# As Triton's driver calls them.
_DRIVER_PROPERTIES = {
    "max_shared_mem": "shared_memory_per_block",
    "max_num_regs": "regs_per_multiprocessor",
    "multiprocessor_count": "multi_processor_count",
    "warpSize": "warp_size",
    "sm_clock_rate": "clock_rate",
    "mem_clock_rate": "memory_clock_rate",
    "mem_bus_width": "memory_bus_width",
}


class _Properties(dict[str, Any]):
    """What Triton's driver tells of the device; each question is noted."""

    def __init__(self, recording: Recording) -> None:
        super().__init__({name: PROPERTIES[source] for name, source in _DRIVER_PROPERTIES.items()})
        self.update(arch=TARGET, cooperativeLaunch=1)
        self._recording = recording

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name)
        if isinstance(value, int):
            self._recording.properties[name] = value
        return value

    def get(self, name: str, default: Any = None) -> Any:
        """As a dict does."""
        try:
            return self[name]
        except KeyError:
            return default


class Runtime:
    """Records the launches of one process."""

    def __init__(self, recording: Recording, functions: Functions) -> None:
        self.recording = recording
        self.functions = functions
        backend = make_backend(_TARGET)
        self.default_options: Mapping[str, Any] = backend.parse_options({}).__dict__
        # Trials of the autotuner that runs now.
        self._trials: list[plan_pb2.Launch] | None = None
        self._tried = 0

    def launch(self, kernel: Kernel, grid: Sequence[Any], values: Mapping[str, Any]) -> None:
        """One launch; in a trial it becomes an alternative of the real one that follows."""
        size = launches.extent(grid)
        if size is None:
            return
        index = kernel.variant
        variant = self.functions.program.variants[index]
        name = kernel.function.fn.__name__
        arguments, relocations = launches.pack(self.recording, variant, values, name)
        launch = plan_pb2.Launch(kernel=index, grid=size, arguments=arguments, relocations=relocations)
        if self.recording.apart:
            if self._trials is not None:
                self._trials.append(launch)
            return
        launch.alternatives.extend(one for one in self._trials or () if one != launch)
        self.recording.emit(launch=launch)

    def bench(self, call: Callable[[], Any], quantiles: Sequence[float] | None = None, **_: Any) -> Any:
        """Tries a configuration, in place of timing it; all take the same time, so that the first one is chosen."""
        self._tried += 1
        if self._trials is not None and self._tried > MAX_CONFIGURATIONS:
            note = f"an autotuned kernel has more than {MAX_CONFIGURATIONS} configurations; the first were considered"
            if note not in self.recording.notes:
                self.recording.notes.append(note)
            return [float("inf")] * len(quantiles) if quantiles else float("inf")
        with self.recording.aside():
            call()
        return [1.0] * len(quantiles) if quantiles else 1.0

    @contextlib.contextmanager
    def tuning(self, tuner: Any) -> Iterator[None]:
        """An autotuner runs: it tries all configurations anew, and what it resets after that is no part of the call."""
        hook = tuner.pre_hook

        def reset(arguments: Any, reset_only: bool = False) -> Any:
            if not reset_only:
                return hook(arguments)
            with self.recording.aside():
                return hook(arguments, reset_only=True)

        if len(tuner.configs) > 1:
            tuner.cache.clear()
            tuner.cache_results = False
        tuner.pre_hook = reset
        outer, self._trials, self._tried = self._trials, [], 0
        try:
            yield
        finally:
            tuner.pre_hook = hook
            self._trials = outer


class Kernel:
    """What host code holds for a compiled kernel."""

    def __init__(self, runtime: Runtime, function: JITFunction[Any], asked: Specialisation) -> None:
        self._runtime = runtime
        self.function = function
        self._asked = asked
        self._compiled: Any = None
        self.packed_metadata = ()
        self.variant = runtime.functions.variant(function, asked, runtime.default_options)

    def launch_metadata(self, *_: Any) -> None:
        """Profilers' business."""

    def run(self, x: Any, y: Any, z: Any, *rest: Any) -> None:
        """As `JITFunction.run` calls it: grid, stream, handle, metadata twice, hooks, all arguments."""
        self._runtime.launch(self, (x, y, z), self._named(rest[6:]))

    def __getitem__(self, grid: Sequence[Any]) -> Callable[..., None]:
        def launch(*arguments: Any, stream: Any = None) -> None:
            self._runtime.launch(self, grid, self._named(arguments))

        return launch

    def _named(self, arguments: Sequence[Any]) -> dict[str, Any]:
        """Arguments by name: all of them, or those that are no constants."""
        names = list(self._asked.signature)
        if len(arguments) != len(names):
            names = [name for name in names if self._asked.signature[name] != "constexpr"]
        if len(arguments) != len(names):
            raise TypeError(f"{self.function.fn.__name__} takes {len(names)} arguments, {len(arguments)} were given")
        return dict(zip(names, arguments, strict=True))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in _COUNTS:
            found = re.search(rf"\.{_COUNTS[name]}:\s*(\d+)", self._compile().asm["amdgcn"])
            return int(found[1]) if found else 0
        if name == "n_max_threads":
            return 1024
        return getattr(self._compile(), name)

    def _compile(self) -> Any:
        if self._compiled is None:
            source = ASTSource(self.function, *self._asked[:3])
            knobs.cache.dir = str(Path.cwd())
            with torch._C.DisableTorchFunction():
                self._compiled = triton.compile(source, target=_TARGET, options=dict(self._asked.options))
        return self._compiled


# Of the AMD code object's metadata.
_COUNTS = {"n_regs": "vgpr_count", "n_spills": "vgpr_spill_count"}


class _Driver(DriverBase):  # type: ignore[misc]
    """The parts of a driver that Triton and host code ask for."""

    def __init__(self, runtime: Runtime) -> None:
        super().__init__()
        properties = _Properties(runtime.recording)
        self.utils = SimpleNamespace(get_device_properties=lambda device=0: properties)
        self._bench = runtime.bench

    @classmethod
    def is_active(cls) -> bool:
        """There is no other."""
        return True

    def map_python_to_cpp_type(self, ty: str) -> str:
        """Nobody compiles a launcher."""
        return ty

    def get_current_device(self) -> int:
        """The only one."""
        return 0

    def set_current_device(self, device: int) -> None:
        """The only one."""

    def get_current_stream(self, device: int = 0) -> int:
        """The default stream."""
        return 0

    def get_device_capability(self, device: int = 0) -> tuple[int, int]:
        """As torch tells it."""
        return PROPERTIES["major"], PROPERTIES["minor"]

    def get_current_target(self) -> GPUTarget:
        """What candidates are told that they run on."""
        return _TARGET

    def get_active_torch_device(self) -> torch.device:
        """Where tensors say that they are."""
        return torch.device("cuda", 0)

    def get_device_interface(self) -> Any:
        """torch's."""
        return torch.cuda

    def get_benchmarker(self) -> Any:
        """Tries instead of timing."""
        return self._bench

    def get_empty_cache_for_benchmark(self) -> torch.Tensor:
        """What `do_bench` clears between two runs."""
        return torch.empty(0, device="cuda")

    def clear_cache(self, cache: Any) -> None:
        """Nothing is cached."""


def install(runtime: Runtime) -> None:
    """Triton's functions record into `runtime` from here on, for the rest of the process."""
    driver = _Driver(runtime)
    drivers._default = driver
    drivers.set_active(driver)

    def compile_later(  # noqa: PLR0917 Triton's own
        function: Any, key: Any, signature: Any, device: Any, constants: Any, options: Any, attributes: Any, warmup: Any
    ) -> Kernel:
        # Triton's own look at the names that the kernel captures.
        function.cache_key  # noqa: B018
        kernel = Kernel(runtime, function, Specialisation(signature, constants, attributes, options.__dict__))
        function.device_caches[device][0][key] = kernel
        return kernel

    def tune(tuner: Any, *arguments: Any, **named: Any) -> Any:
        with runtime.tuning(tuner):
            return original(tuner, *arguments, **named)

    original = Autotuner.run
    JITFunction._do_compile = compile_later
    Autotuner.run = tune
    triton.testing.do_bench = triton.testing.do_bench_cudagraph = (
        lambda fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean": runtime.bench(
            fn, quantiles
        )
    )
