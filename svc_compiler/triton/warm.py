"""Makes Triton's AMD compiler ready in a process that compile jobs are forked from.

Its first compilation takes ten times as long as the next ones: LLVM's targets are set up, the bitcode libraries read,
Python's modules loaded. Importing this module pays for that once.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from types import FunctionType
from typing import Any

import triton
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase
from triton.compiler import ASTSource
from triton.runtime.driver import driver

from kernelvault.replay.triton import program as programs
from kernelvault.v1 import triton_pb2

WAVE_SIZE = 64
_KERNEL = """def warm(a, b, c, n, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    places = rows[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    x = tl.load(a + places, mask=places < n, other=0.0)
    y = tl.dot(x, tl.load(b + places))
    y = tl.exp(y) / tl.sum(y, axis=1)[:, None]
    for i in range(n):
        y += tl.max(y, axis=0)[None, :] * i
    tl.store(c + places, y, mask=places < n)
"""


class Offline(DriverBase):  # type: ignore[misc]  # Triton has no types
    """A driver that knows its target and nothing else: there is no device."""

    def __init__(self, target: GPUTarget) -> None:
        super().__init__()
        self._target = target

    @classmethod
    def is_active(cls) -> bool:
        """See DriverBase."""
        return True

    def map_python_to_cpp_type(self, ty: str) -> str:
        """See DriverBase."""
        return ty

    def get_current_target(self) -> GPUTarget:
        """See DriverBase."""
        return self._target

    def get_active_torch_device(self) -> Any:
        """See DriverBase."""
        raise RuntimeError("there is no device")

    def get_benchmarker(self) -> Any:
        """See DriverBase."""
        raise RuntimeError("there is no device")


def gpu_target(target: str) -> GPUTarget:
    """Triton's name for `gfx942` and the like."""
    return GPUTarget("hip", target, WAVE_SIZE)


def jit(function: FunctionType, message: triton_pb2.TritonProgram.Function) -> Any:
    """Wraps a materialised function for the compiler."""
    return triton.jit(function, noinline=message.noinline or None)


def compile_variant(functions: list[Any], variant: triton_pb2.TritonProgram.Variant, target: str, cache: str) -> Any:
    """The compiled kernel, its files and all temporary ones below `cache`. Raises whatever Triton raises."""
    names = [parameter.name for parameter in variant.parameters]
    kinds = [parameter.WhichOneof("kind") for parameter in variant.parameters]
    constants = {
        (i,): programs.constant(parameter.constant, functions)
        for i, parameter in enumerate(variant.parameters)
        if kinds[i] == "constant"
    }
    attributes = {
        (i,): [[attribute.name, attribute.value] for attribute in parameter.attributes]
        for i, parameter in enumerate(variant.parameters)
        if parameter.attributes
    }
    types = ["constexpr" if kind == "constant" else p.type for kind, p in zip(kinds, variant.parameters, strict=True)]
    source = ASTSource(functions[variant.function], dict(zip(names, types, strict=True)), constants, attributes)
    options = {name: programs.constant(value) for name, value in variant.options.items()}
    offline = gpu_target(target)
    driver.set_active(Offline(offline))
    Path(cache).mkdir(parents=True, exist_ok=True)
    knobs.cache.dir = cache
    # Python keeps the folder that it found first; a forked child may not write there.
    tempfile.tempdir = cache
    return triton.compile(source, target=offline, options=options)


def _settle() -> None:
    """Sets what an environment could change.

    Line tables would put this machine's paths into code objects. The passes look at the environment, not at the knob:
    they keep the lines, for their complaints.
    """
    for name in list(os.environ):
        if name.startswith(("TRITON_", "AMDGCN_", "MLIR_", "LLVM_")):
            del os.environ[name]
    knobs.runtime.debug = False
    knobs.compilation.instrumentation_mode = ""
    knobs.compilation.disable_line_info = True
    del os.environ["TRITON_DISABLE_LINE_INFO"]


def _warm() -> None:
    program = triton_pb2.TritonProgram()
    function = program.functions.add(name="warm", file="warm.py", line=1, source=_KERNEL)
    function.globals["tl"].imported = "triton.language"
    variant = program.variants.add(function=0)
    for name in "abc":
        variant.parameters.add(name=name, type="*fp16" if name in "ab" else "*fp32")
    variant.parameters.add(name="n", type="i32")
    variant.parameters.add(name="BLOCK").constant.integer = 32
    variant.name = programs.variant_name(program, variant)
    with tempfile.TemporaryDirectory(prefix="kernelvault-warm-") as cache:
        compile_variant(programs.materialize(program, jit), variant, "gfx942", cache)
        tempfile.tempdir = None


_settle()
_warm()
