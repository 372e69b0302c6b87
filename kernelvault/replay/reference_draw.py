"""One call of a reference, made ready under a seed: the model, its inputs, their distribution and strides.

Decisions that the tasks' authors rely on:

- torch, random and numpy are seeded before `Model(*init)` and `get_inputs()`, so parameters are random too.
- The model moves to the dtype of the first floating-point input (8-bit formats aside: no module computes in them).
- It is evaluated in inference mode (`eval()`) unless the module's source sets the mode itself: dropout would be random,
  and batch norm would change its own buffers.
- Parameters that are born constant (the ones and zeros of norms and biases) are perturbed by a tenth, and the running
  statistics of batch norms likewise: a kernel that leaves them out must not pass.
- Masks (floating-point inputs with infinities or two distinct values) are never redrawn.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from kernelvault.replay import reference_faults as faults
from kernelvault.replay import reference_tensors as tensors
from kernelvault.replay.reference_module import Module, sets_training_mode
from kernelvault.v1 import kernel_pb2

Case = kernel_pb2.Case
_PERTURBATION = 0.1
_DRAWS: dict[int, Callable[[tuple[int, ...]], torch.Tensor]] = {
    Case.NORMAL: torch.randn,
    Case.UNIFORM: torch.rand,
    Case.LARGE: lambda shape: torch.randn(shape) * 2.0**8,
    Case.TINY: lambda shape: torch.randn(shape) * 2.0**-12,
    Case.ZEROS: torch.zeros,
    Case.NEGATIVE: lambda shape: torch.rand(shape) - 1,
}


@dataclass
class Call:
    """A model and the arguments of one call, by name; `keywords` tells that they are passed by name."""

    module: Module
    model: torch.nn.Module
    arguments: list[tuple[str, Any]]
    keywords: bool
    init_numbers: list[tuple[str, int | float | bool]]

    def run(self) -> Any:
        """What forward returns; raises Unfit where it fails."""
        return self.module.guard("Model.forward", lambda: invoke(self.model, self.arguments, self.keywords))

    def signature(self) -> list[tuple[str, Any]]:
        """What a candidate gets, in order: input tensors, parameters and buffers, numbers; names are made unique.

        Buffers that `state_dict` leaves out (`persistent=False`) come after those that it holds.
        """
        inputs = [(name, value) for name, value in self.arguments if isinstance(value, torch.Tensor)]
        numbers = [(name, value) for name, value in self.arguments if is_number(value)]
        return _unique([*inputs, *self.state(), *numbers, *self.init_numbers])

    def parameters(self) -> list[kernel_pb2.Parameter]:
        """The signature as a case describes it."""
        inputs = sum(isinstance(value, torch.Tensor) for _, value in self.arguments)
        described = [tensors.parameter(name, value) for name, value in self.signature()]
        for one in described[inputs : inputs + len(self.state())]:
            one.of_model = True
        return described

    def state(self) -> list[tuple[str, torch.Tensor]]:
        """The model's parameters and buffers under their own names."""
        saved = {name: value for name, value in self.model.state_dict().items() if isinstance(value, torch.Tensor)}
        return [*saved.items(), *((name, value) for name, value in self.model.named_buffers() if name not in saved)]

    def tensors_seen(self) -> list[tuple[str, torch.Tensor]]:
        """All tensors that the call may read: what it must not change."""
        return [(name, value) for name, value in self.signature() if isinstance(value, torch.Tensor)]


def prepare(module: Module, arguments: Mapping[str, Any], case: Case, seed: int) -> Call:
    """The call of `case`, its values drawn under `seed`; raises Unfit or Malformed."""
    call = construct(module, arguments, seed)
    perturb(call.model)
    call.arguments = [(name, _drawn(value, case)) for name, value in call.arguments]
    return call


def construct(module: Module, arguments: Mapping[str, Any], seed: int) -> Call:
    """The call as the module's own functions make it."""
    _seed_all(seed)
    init = module.call("get_init_inputs", arguments)
    model = module.guard("Model(...)", lambda: _instantiate(module.model_class, init))
    if not isinstance(model, torch.nn.Module):
        raise faults.Malformed("Model is no torch.nn.Module; derive it from torch.nn.Module")
    inputs = module.call("get_inputs", arguments)
    named = _named_inputs(model, inputs)
    _check_inputs(named)
    dtype = next((v.dtype for _, v in named if isinstance(v, torch.Tensor) and v.dtype.is_floating_point), None)
    if dtype is not None and dtype.itemsize > 1:
        model = model.to(dtype)
    if not sets_training_mode(module.source):
        model = model.eval()
    return Call(module, model, named, isinstance(inputs, dict), _init_numbers(module.model_class, init))


def invoke(model: Callable[..., Any], arguments: list[tuple[str, Any]], keywords: bool, **more: Any) -> Any:
    """Calls the model with named arguments, by position unless `keywords`."""
    if keywords:
        return model(**dict(arguments), **more)
    return model(*(value for _, value in arguments), **more)


def is_number(value: object) -> bool:
    """Whether a candidate gets the value as a scalar."""
    return isinstance(value, bool | int | float)


def perturb(model: torch.nn.Module) -> None:
    """Makes constant parameters and untrained running statistics vary, keeping their sign."""
    with torch.no_grad():
        for parameter in model.parameters():
            _perturb(parameter)
        for part in model.modules():
            for name in ("running_mean", "running_var"):
                buffer = getattr(part, name, None)
                if isinstance(buffer, torch.Tensor):
                    _perturb(buffer)


def _perturb(tensor: torch.Tensor) -> None:
    if not tensor.dtype.is_floating_point or tensor.numel() == 0 or tensor.element_size() == 1:
        return
    first = float(tensor.detach().flatten()[0])
    if not bool((tensor == first).all()):
        return
    noise = _PERTURBATION * torch.randn(tensor.shape).clamp(-3, 3)
    tensor.copy_(noise if first == 0 else first * (1 + noise))


def _drawn(value: Any, case: Case) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    draw = _DRAWS.get(case.distribution)
    if draw is not None and tensors.is_generic(value):
        value = draw(tuple(value.shape)).to(value.dtype)
    return _strided(value) if case.strided else value


def _strided(value: torch.Tensor) -> torch.Tensor:
    """The same values as a view that is not contiguous: transposed in memory, or every second element."""
    if value.numel() < 2:
        return value
    if value.dim() >= 2 and min(value.shape[-2:]) > 1:
        return value.transpose(-1, -2).contiguous().transpose(-1, -2)
    spread = value.new_zeros((*value.shape, 2))
    spread[..., 0] = value
    return spread[..., 0]


def _seed_all(seed: int) -> None:
    torch.manual_seed(seed)
    random.seed(seed)
    try:
        import numpy as np
    except ImportError:
        return
    np.random.seed(seed % (1 << 32))


def _instantiate(model_class: Any, init: Any) -> Any:
    return model_class(**init) if isinstance(init, dict) else model_class(*init)


def _named_inputs(model: torch.nn.Module, inputs: Any) -> list[tuple[str, Any]]:
    if isinstance(inputs, dict):
        return [(str(name), value) for name, value in inputs.items()]
    if not isinstance(inputs, list | tuple):
        raise faults.Malformed(f"get_inputs returned {type(inputs).__name__}; return a list of tensors and numbers")
    return list(zip(_positional_names(type(model).forward, len(inputs), skip=1), inputs, strict=True))


def _positional_names(function: Callable[..., Any], count: int, *, skip: int) -> list[str]:
    """The names under which a function takes its first positional arguments."""
    parameters = list(inspect.signature(function).parameters.values())[skip:]
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [parameter.name for parameter in parameters if parameter.kind in positional][:count]
    rest = next((parameter.name for parameter in parameters if parameter.kind is parameter.VAR_POSITIONAL), "input")
    return names + [f"{rest}_{index}" for index in range(count - len(names))]


def _check_inputs(named: list[tuple[str, Any]]) -> None:
    for name, value in named:
        if isinstance(value, torch.Tensor):
            tensors.dtype_name(value.dtype)
            if value.device.type not in ("cpu", "meta"):
                raise faults.Unfit(f"get_inputs makes {name!r} on {value.device}; make it on the CPU")
        elif isinstance(value, list | tuple | dict) and any(isinstance(v, torch.Tensor) for v in _values(value)):
            raise faults.Malformed(
                f"get_inputs gives a {type(value).__name__} of tensors for {name!r}; give each tensor as an input"
            )


def _values(container: Any) -> list[Any]:
    return list(container.values() if isinstance(container, dict) else container)


def _init_numbers(model_class: Any, init: Any) -> list[tuple[str, int | float | bool]]:
    if isinstance(init, dict):
        named = list(init.items())
    else:
        named = list(zip(_positional_names(model_class.__init__, len(init), skip=1), init, strict=True))
    return [(str(name), value) for name, value in named if is_number(value)]


def _unique(named: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Names as they stand; one that was taken before gets a number."""
    taken: set[str] = set()
    result = []
    for name, value in named:
        fresh, number = name, 1
        while fresh in taken:
            number += 1
            fresh = f"{name}_{number}"
        taken.add(fresh)
        result.append((fresh, value))
    return result
