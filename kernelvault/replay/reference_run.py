"""Runs a reference in its own dtype and in float64, and checks that it is a function of its inputs."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map_only

from kernelvault.replay import reference_faults as faults
from kernelvault.replay import reference_tensors as tensors
from kernelvault.replay.accumulation import AccumulationCounter
from kernelvault.replay.reference_draw import Call, invoke
from kernelvault.replay.reference_tensors import Named

# A float64 result this far from the working one (relative to the output's scale) is of another function.
_ANOTHER_FUNCTION = 0.25
_WIDER = {
    torch.float32: torch.float64,
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.complex64: torch.complex128,
}
_CONVERSIONS = (torch.Tensor.float, torch.Tensor.half, torch.Tensor.bfloat16)


@dataclass(frozen=True)
class Result:
    """What a reference returns, flattened."""

    outputs: list[Named]
    returns_sequence: bool


@dataclass(frozen=True)
class Exact:
    """The outputs in float64 (integers as they are), or those of the working dtype where `note` says why."""

    outputs: list[Named]
    # Roundings that the longest chain of additions behind one output element takes; see `accumulation`.
    accumulation: int
    note: str = ""


def run(call: Call) -> Result:
    """Runs once in the working dtype, outputs contiguous and apart from the inputs' memory; raises Unfit."""
    with torch.no_grad():
        flat, sequence = tensors.flatten(call.run())
        for name, tensor in flat:
            tensors.dtype_name(tensor.dtype)
            if tensor.layout is not torch.strided or tensor.device.type != "cpu":
                raise faults.Unfit(f"Model.forward returned {name} as a {tensor.layout} tensor on {tensor.device}")
        return Result(
            [(name, tensor.detach().clone(memory_format=torch.contiguous_format)) for name, tensor in flat], sequence
        )


def run_checked(call: Call) -> Result:
    """Runs twice; raises Unfit if the outputs differ in a bit or an input, parameter or buffer has changed."""
    before = [(name, tensor.clone()) for name, tensor in call.tensors_seen()]
    first = run(call)
    _check_unchanged(call, before)
    second = run(call)
    for (name, one), (_, other) in zip(first.outputs, second.outputs, strict=True):
        if not tensors.same_bits(one, other):
            raise faults.Unfit(
                f"is not deterministic: {name} differs between two runs on the same inputs; take random operators out"
            )
    return first


def run_exact(call: Call, working: Result) -> Exact:
    """Runs with every floating-point number in float64; falls back to `working` where the module cannot."""
    try:
        with torch.no_grad(), _double_by_default(), AccumulationCounter() as counter, Widen():
            wide = _widened(call)
            flat, _ = tensors.flatten(invoke(*wide, call.keywords))
            outputs = [(name, _exact(tensor)) for name, tensor in flat]
    except Exception as error:
        why = faults.describe(error, str(call.module.path))
        return Exact(working.outputs, 1, f"the reference does not run in float64 ({why}); its own dtype is compared")
    if [t.shape for _, t in outputs] != [t.shape for _, t in working.outputs]:
        return Exact(working.outputs, 1, "the reference has other shapes in float64; its own dtype is compared")
    if any(_differs(one, other) for (_, one), (_, other) in zip(outputs, working.outputs, strict=True)):
        note = "the reference computes something else in float64; its own dtype is compared"
        return Exact(working.outputs, counter.length, note)
    return Exact(outputs, counter.length)


class Widen(TorchFunctionMode):
    """Makes conversions to a narrower floating-point dtype go to float64: `x.float()`, `x.to(torch.float16)`...

    The 8-bit formats stay: rounding to them is what a quantising module does, not how it computes.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Calls `func` with wider dtypes."""
        func = torch.Tensor.double if func in _CONVERSIONS else func
        wider = tree_map_only(torch.dtype, lambda dtype: _WIDER.get(dtype, dtype), (args, kwargs or {}))
        return func(*wider[0], **wider[1])


def _check_unchanged(call: Call, before: list[Named]) -> None:
    after = dict(call.tensors_seen())
    for name, tensor in before:
        if name not in after or not tensors.same_bits(after[name], tensor):
            raise faults.Unfit(f"changes its inputs: {name} differs after Model.forward; work on a copy of it")


@contextlib.contextmanager
def _double_by_default() -> Iterator[None]:
    dtype = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(dtype)


def _widened(call: Call) -> tuple[torch.nn.Module, list[tuple[str, Any]]]:
    def wide(value: Any) -> Any:
        floating = isinstance(value, torch.Tensor) and value.dtype.is_floating_point
        return value.double() if floating and value.element_size() > 1 else value

    return copy.deepcopy(call.model).double(), [(name, wide(value)) for name, value in call.arguments]


def _exact(tensor: torch.Tensor) -> torch.Tensor:
    tensor = tensor.detach()
    if tensor.dtype.is_floating_point:
        return tensor.double().contiguous()
    return tensor.contiguous()


def _differs(exact: torch.Tensor, working: torch.Tensor) -> bool:
    """Whether two floating-point results are far apart where both are finite."""
    if not working.dtype.is_floating_point or working.numel() == 0:
        return exact.dtype.is_floating_point != working.dtype.is_floating_point
    if not exact.dtype.is_floating_point:
        return True
    narrow = working.double()
    finite = torch.isfinite(exact) & torch.isfinite(narrow)
    if not bool(finite.any()):
        return False
    difference = (exact - narrow)[finite].square().mean().sqrt()
    scale = narrow[finite].square().mean().sqrt()
    return bool(difference > _ANOTHER_FUNCTION * scale) and bool(difference > torch.finfo(working.dtype).eps)
