"""How large a call of a reference is, and how to make it small enough for the CPU model; inside the sandboxed child."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode

from kernelvault.replay import cases, reference_draw
from kernelvault.replay import reference_faults as faults
from kernelvault.replay import reference_tensors as tensors
from kernelvault.replay.reference_module import Module, constants
from kernelvault.v1 import kernel_pb2

_MAX_TRIALS = 200
_SMALL = 8
_ANY_SEED = 0


@dataclass(frozen=True)
class Size:
    """The signature of a call and its cost: tensor elements in and out, operations of matrix products."""

    parameters: list[kernel_pb2.Parameter]
    outputs: list[kernel_pb2.Parameter]
    returns_sequence: bool
    flops: int

    @property
    def elements(self) -> int:
        """Tensor elements in and out."""
        return cases.elements([*self.parameters, *self.outputs])

    @property
    def cost(self) -> float:
        """The sum of both measures, each as a share of what the CPU model runs well."""
        return self.elements / cases.MAX_ELEMENTS + self.flops / cases.MAX_FLOPS

    @property
    def fits(self) -> bool:
        """Whether the CPU model runs it well."""
        return self.elements <= cases.MAX_ELEMENTS and self.flops <= cases.MAX_FLOPS


@dataclass(frozen=True)
class Shrunk:
    """A module with smaller constants, and what became of its size."""

    module: Module
    constants: dict[str, int]
    size: Size


def measure(module: Module, arguments: Mapping[str, Any]) -> Size:
    """The size of a call, without memory or work where torch's meta device can; raises Unfit where the call fails."""
    try:
        with torch.device("meta"):
            return _measure(module, arguments)
    except Exception:
        return _measure(module, arguments)


def shrink(module: Module, folder: Path) -> Shrunk:
    """Halves the largest module-level integer that matters, again and again, until the reference fits or none is left.

    A smaller value stays if the reference still runs and costs less. Integers of at most 8 (kernel sizes, heads) are
    kept unless nothing else helps.
    """
    best = Shrunk(module, {}, measure(module, {}))
    for least in (_SMALL, 1):
        best = _shrink_to(best, module, folder, least)
    return best


def _shrink_to(best: Shrunk, module: Module, folder: Path, least: int) -> Shrunk:
    left = {**constants(module.source), **best.constants}
    for _ in range(_MAX_TRIALS):
        left = {name: value for name, value in left.items() if value // 2 >= least}
        if best.size.fits or not left:
            break
        name = max(left, key=lambda key: left[key])
        trial = try_constants(module, folder, {**best.constants, name: left[name] // 2})
        if trial is None or trial.size.cost >= best.size.cost:
            del left[name]
        else:
            best = trial
            left[name] //= 2
    return best


def resized(module: Module, folder: Path, replaced: Mapping[str, int]) -> Shrunk | None:
    """Another shape of the same task: the largest integer that matters made a quarter smaller, odd if possible."""
    values = {**constants(module.source), **replaced}
    original = measure(Module(module.source, folder, replaced), {})
    for name in sorted(values, key=lambda key: -values[key]):
        for value in dict.fromkeys((values[name] * 3 // 4 | 1, values[name] * 3 // 4, values[name] // 2)):
            if not 1 <= value < values[name]:
                continue
            trial = try_constants(module, folder, {**replaced, name: value})
            if trial is not None and _shapes(trial.size) != _shapes(original) and trial.size.fits:
                return trial
    return None


def try_constants(module: Module, folder: Path, replaced: Mapping[str, int]) -> Shrunk | None:
    """The module with these constants, or None if it does not run with them."""
    try:
        other = Module(module.source, folder, replaced)
        return Shrunk(other, dict(replaced), measure(other, {}))
    except faults.Unusable:
        return None


def _shapes(size: Size) -> list[list[int]]:
    return [list(parameter.tensor.dims) for parameter in size.parameters]


def _measure(module: Module, arguments: Mapping[str, Any]) -> Size:
    call = reference_draw.construct(module, arguments, _ANY_SEED)
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        flat, sequence = tensors.flatten(call.run())
    outputs = [tensors.parameter(name, tensor.contiguous()) for name, tensor in flat]
    return Size(call.parameters(), outputs, sequence, counter.get_total_flops())
