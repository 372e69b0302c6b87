"""The candidate's module and its entry point, inside the capturing process."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from kernelvault.replay import bundle, reference_module
from kernelvault.replay import reference_draw as draw
from kernelvault.v1 import kernel_pb2
from svc_compiler.triton.recording import Recording

DEFAULT_FUNCTION = "module_fn"
DEFAULT_CLASS = "ModelNew"
_NAME = "candidate"


class Misfit(Exception):
    """The module lacks what the case calls, or has it in another form; the message says what, and what to do."""


def load(sources: Path, main: str) -> ModuleType:
    """Executes the module; the others of the sources can be imported by their names. Raises what it raises."""
    sys.path.insert(0, str(sources))
    path = sources / main
    if str(path.parent) != str(sources):
        sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(_NAME, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[_NAME] = module
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    return module


class Entry:
    """What is called for each call of the candidate."""

    def __init__(
        self, recording: Recording, module: ModuleType, entry_point: str, case: kernel_pb2.Case, reference: str
    ) -> None:
        """Finds the entry point, and makes the model if it is a class. Raises Misfit, and what the model raises."""
        self._recording = recording
        self._case = case
        names = [entry_point] if entry_point else [DEFAULT_FUNCTION, DEFAULT_CLASS]
        found = [(name, getattr(module, name)) for name in names if callable(getattr(module, name, None))]
        if not found:
            wanted = f"`{names[0]}`" if entry_point else f"neither `{DEFAULT_FUNCTION}` nor `{DEFAULT_CLASS}`"
            verb = "does not define" if entry_point else "defines"
            raise Misfit(
                f"the module {verb} {wanted}; define `{DEFAULT_FUNCTION}(inputs..., parameters..., scalars...)` or "
                f"the class `{DEFAULT_CLASS}`"
            )
        self.name, self._target = found[0]
        self._model: Any = None
        self._arguments: list[Any] = []
        if isinstance(self._target, type):
            self._construct(reference)

    def call(self) -> Any:
        """One call with tensors of its own; gives what the candidate returns."""
        if self._model is None:
            arguments = [self._argument(i) for i in range(len(self._case.parameters))]
            self._check_takes(arguments)
            return self._target(*arguments)
        keywords, given = self._arguments
        made = [(name, self._argument(at) if isinstance(at, _Position) else at) for name, at in given]
        return self._model(**dict(made)) if keywords else self._model(*(value for _, value in made))

    def _check_takes(self, arguments: list[Any]) -> None:
        """Raises TypeError, which names the case's arguments, where the function cannot be called with them."""
        try:
            inspect.signature(self._target).bind(*arguments)
        except ValueError:  # a builtin does not say
            pass
        except TypeError as error:
            names = ", ".join(parameter.name for parameter in self._case.parameters)
            raise TypeError(f"{self.name}: {error}; it is called with ({names})") from None

    def _argument(self, position: int) -> Any:
        parameter = self._case.parameters[position]
        kind = parameter.WhichOneof("value")
        return self._tensor(position) if kind == "tensor" else getattr(parameter, str(kind))

    def _tensor(self, position: int) -> torch.Tensor:
        """A tensor on the device, in memory of its own, as the case describes it."""
        parameter = self._case.parameters[position]
        view = parameter.tensor
        dtype = getattr(torch, view.dtype)
        with torch._C.DisableTorchFunction():
            elements = bundle.span_bytes(view) // bundle.element_bytes(view.dtype)
            memory = torch.empty(elements, dtype=dtype, device="meta")
            tensor = memory.as_strided(tuple(view.dims), tuple(view.strides), view.offset_elements)
            self._recording.adopt(tensor, position, parameter.name)
        return tensor

    def _construct(self, reference: str) -> None:
        """`ModelNew(*get_init_inputs(...))`, with the case's parameters and buffers in the place of its own."""
        module = reference_module.Module(reference, Path.cwd(), dict(self._case.shrunk))
        sys.modules.pop(module.model_class.__module__, None)
        arguments = reference_module.decode_arguments(self._case.arguments_json)
        init = module.call("get_init_inputs", arguments)
        inputs = _inputs(module, arguments)
        self._model = self._made(init)
        if not isinstance(self._model, torch.nn.Module):
            raise Misfit(f"`{self.name}` is no torch.nn.Module; derive it from torch.nn.Module")
        self._arguments = self._matched(inputs, isinstance(inputs, dict), module)
        count = sum(isinstance(at, _Position) and self._is_tensor(at) for _, at in self._arguments[1])
        self._bind(count)
        if not reference_module.sets_training_mode(reference):
            self._model.eval()

    def _made(self, init: Any) -> Any:
        """The candidate's model, with parameters on the device and in the dtype of the case's."""
        wide, own = torch.get_default_dtype(), self._floating_dtype()
        self._recording.lifting = True
        torch.set_default_dtype(own or wide)
        try:
            return self._target(**init) if isinstance(init, dict) else self._target(*init)
        finally:
            torch.set_default_dtype(wide)
            self._recording.lifting = False

    def _floating_dtype(self) -> torch.dtype | None:
        """Of the first floating-point tensor: the reference's Model is moved to it."""
        dtypes = (getattr(torch, one.tensor.dtype) for one in self._case.parameters if one.HasField("tensor"))
        return next((dtype for dtype in dtypes if dtype.is_floating_point and dtype.itemsize > 1), None)

    def _is_tensor(self, position: int) -> bool:
        return self._case.parameters[position].HasField("tensor")

    def _matched(self, inputs: Any, keywords: bool, module: reference_module.Module) -> list[Any]:
        """The arguments of `forward` in the reference's order: positions among the case's parameters, or values."""
        values = list(inputs.items()) if keywords else [("", value) for value in inputs]
        tensors = [i for i, one in enumerate(self._case.parameters) if one.HasField("tensor")]
        numbers = [i for i, one in enumerate(self._case.parameters) if not one.HasField("tensor")]
        given: list[tuple[str, Any]] = []
        for name, value in values:
            if isinstance(value, torch.Tensor) and tensors:
                given.append((name, _Position(tensors.pop(0))))
            elif draw.is_number(value) and numbers:
                given.append((name, _Position(numbers.pop(0))))
            else:
                given.append((name, value))
        return [keywords, given]

    def _bind(self, inputs: int) -> None:
        """Puts the case's parameters and buffers where the model holds its own; raises Misfit where they differ."""
        wanted = {
            parameter.name: position
            for position, parameter in enumerate(self._case.parameters)
            if parameter.HasField("tensor") and position >= inputs
        }
        saved = set(self._model.state_dict(keep_vars=True))
        own = {**dict(_parameters(self._model)), **dict(_buffers(self._model))}
        missing = [name for name in wanted if name not in own]
        # One tensor may have several names; one of them is enough.
        bound = {id(own[name]) for name in wanted if name in own}
        extra = [name for name in own if name not in wanted and name in saved and id(own[name]) not in bound]
        if missing or extra:
            parts = [f"lacks {_listed(missing)}"] if missing else []
            parts += [f"has {_listed(extra)} besides"] if extra else []
            raise Misfit(
                f"`{self.name}` {' and '.join(parts)}: its state_dict must have the names and shapes of the "
                "reference's Model, so that it gets the same weights"
            )
        for name, position in wanted.items():
            dims = list(self._case.parameters[position].tensor.dims)
            if list(own[name].shape) != dims:
                raise Misfit(
                    f"`{self.name}.{name}` has shape {list(own[name].shape)}, the reference's Model has {dims}"
                )
        for name, position in wanted.items():
            names = [other for other in own if other == name or (own[other] is own[name] and other not in wanted)]
            self._replace(names, own[name], position)
        for name in own.keys() - wanted.keys():
            if id(own[name]) not in bound:
                _set(self._model, name, own[name].to("cuda"))

    def _replace(self, names: list[str], old: torch.Tensor, position: int) -> None:
        """A tensor that the case could have made stays, as the case's; any other is replaced by the case's."""
        parameter = self._case.parameters[position]
        with torch._C.DisableTorchFunction():
            view = parameter.tensor
            same = (
                old.is_meta
                and str(old.dtype) == f"torch.{view.dtype}"
                and tuple(old.stride()) == tuple(view.strides)
                and old.storage_offset() == view.offset_elements == 0
                and old.untyped_storage().nbytes() == bundle.span_bytes(view)
            )
            if same:
                self._recording.adopt(old, position, parameter.name)
        if same:
            return
        tensor = self._tensor(position)
        for name in names:
            _set(self._model, name, tensor)


class _Position(int):
    """An argument that is the case's parameter of that position."""


def _parameters(model: torch.nn.Module) -> Any:
    return model.named_parameters(remove_duplicate=False)


def _buffers(model: torch.nn.Module) -> Any:
    return model.named_buffers(remove_duplicate=False)


def _set(model: torch.nn.Module, name: str, tensor: torch.Tensor) -> None:
    path, _, last = name.rpartition(".")
    owner = model.get_submodule(path)
    if last in owner._parameters:
        owner._parameters[last] = torch.nn.Parameter(tensor, requires_grad=False)
    else:
        owner._buffers[last] = tensor


def _inputs(module: reference_module.Module, arguments: dict[str, Any]) -> Any:
    """The reference's inputs, without their values where torch can."""
    try:
        with torch.device("meta"):
            return module.call("get_inputs", arguments)
    except Exception:
        return module.call("get_inputs", arguments)


def _listed(names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:8])
    return shown + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def flatten(value: Any) -> tuple[list[torch.Tensor], list[str], bool]:
    """The tensors on the device that a candidate returned, in order; what else it returned; whether as a sequence."""
    tensors: list[torch.Tensor] = []
    others: list[str] = []

    def walk(item: Any) -> None:
        if isinstance(item, torch.Tensor):
            if item.is_meta:
                tensors.append(item)
            else:
                others.append(f"a tensor on the {item.device.type.upper()}")
        elif isinstance(item, dict):
            for one in item.values():
                walk(one)
        elif isinstance(item, tuple | list):
            for one in item:
                walk(one)
        elif item is not None:
            others.append(f"{type(item).__name__} {item!r}"[:80])

    with torch._C.DisableTorchFunction():
        walk(value)
    return tensors, others, isinstance(value, tuple | list | dict)
