"""Every ATen operator that host code runs on device data: a movement of the plan, or foreign."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from svc_compiler.triton import movements
from svc_compiler.triton.cuda_answers import on_meta
from svc_compiler.triton.recording import MAX_UPLOAD_BYTES, Recording, Unplannable

# Neither data nor memory changes; views are known by their schema.
_FREE = frozenset(
    (
        *("empty", "empty_strided", "empty_permuted", "empty_like", "new_empty", "new_empty_strided", "_unsafe_view"),
        *("t_", "transpose_", "squeeze_", "unsqueeze_", "swapaxes_", "detach_", "as_strided_"),
        *("is_same_size", "is_pinned", "_has_same_storage_numel"),
    )
)
# They tell torch to look at data in another way, which no view of a plan says.
_DISGUISES = frozenset(["_conj", "_neg_view", "resize_", "resize", "set_", "set", "_resize_output_"])
_VALUES: dict[str, Callable[..., Any]] = {
    "zeros": lambda *_: 0,
    "zeros_like": lambda *_: 0,
    "new_zeros": lambda *_: 0,
    "ones": lambda *_: 1,
    "ones_like": lambda *_: 1,
    "new_ones": lambda *_: 1,
    "full": lambda size, value: value,
    "full_like": lambda tensor, value: value,
    "new_full": lambda tensor, size, value: value,
    "scalar_tensor": lambda value: value,
}
# Constants of the host's making.
_CONSTANTS = frozenset(["arange", "linspace", "logspace", "eye", "tril_indices", "triu_indices"])
# What `ModelNew` allocates for its parameters, on the device though its author does not say so.
_LIFTED = frozenset(["empty", "empty_strided", "zeros", "ones", "full", "rand", "randn"])
_TORCHS = ("aten", "prim", "prims", "torchvision", "quantized", "inductor")
_RESIDENT = torch.device("meta")
_HOST = torch.device("cpu")


class Operators(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Sees every operator under torch's own functions."""

    def __init__(self, recording: Recording) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._recording = recording
        self._special: dict[str, Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]] = {
            "copy_": self._copy_,
            "clone": self._clone,
            "_to_copy": self._to_copy,
            "zero_": self._fill_,
            "fill_": self._fill_,
            "_local_scalar_dense": self._item,
            "record_stream": lambda func, args, kwargs: None,
        }

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Runs an operator of the host; notes one of the device and gives tensors of the right shapes."""
        with torch._C.DisableTorchFunction():
            return self._run(func, args, dict(kwargs or {}))

    def _run(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        name = func._schema.name.removeprefix("aten::")
        if "device" in kwargs:
            kwargs["device"] = on_meta(kwargs["device"])
            if kwargs["device"] == _RESIDENT:
                kwargs.pop("pin_memory", None)
        device = any(tensor.is_meta for tensor in _tensors((args, kwargs)))
        if not device and kwargs.get("device") != _RESIDENT:
            lifted = self._recording.lifting and name in _LIFTED
            return self._lifted(func, args, kwargs) if lifted else func(*args, **kwargs)
        if name in self._special:
            return self._special[name](func, args, kwargs)
        if name in _VALUES:
            return self._filled(func, name, args, kwargs)
        if name in _CONSTANTS:
            return self._constant(func, args, kwargs)
        if name not in _DISGUISES and (name in _FREE or func.is_view):
            return func(*args, **kwargs)
        if func.namespace not in _TORCHS:
            raise Unplannable(
                f"host code calls `{func._schema.name}` through torch's dispatcher ({self._recording.place()}); "
                "call the function itself"
            )
        return self._foreign(func, args, kwargs)

    def _lifted(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What `ModelNew` allocates, on the device; small constants stay where their author puts them."""
        shape = func(*args, **{**kwargs, "device": _RESIDENT, "pin_memory": False})
        name = func._schema.name.removeprefix("aten::")
        if name in _VALUES and shape.numel() * shape.element_size() <= MAX_UPLOAD_BYTES:
            return func(*args, **kwargs)
        return self._run(func, args, {**kwargs, "device": _RESIDENT})

    def _filled(self, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        made = func(*args, **kwargs)
        if made.is_meta:
            named = [kwargs[key] for key in ("fill_value", "value", "s") if key in kwargs]
            value = named[0] if named else _VALUES[name](*args)
            movements.fill(self._recording, made, torch.tensor([value], dtype=made.dtype))
        return made

    def _fill_(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        tensor, value = args[0], args[1] if len(args) > 1 else 0
        if not isinstance(value, torch.Tensor):
            movements.fill(self._recording, tensor, torch.tensor([value], dtype=tensor.dtype))
        elif value.is_meta:
            movements.copy(self._recording, tensor, value)
        else:
            movements.fill(self._recording, tensor, value)
        return tensor

    def _copy_(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        destination, source = args[:2]
        if not destination.is_meta:
            return func(destination, self._recording.read(source, "copy_"), *args[2:])
        if source.is_meta:
            movements.copy(self._recording, destination, source)
        else:
            movements.upload(self._recording, destination, source)
        return destination

    def _clone(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        made = func(*args, **kwargs)
        movements.copy(self._recording, made, args[0])
        return made

    def _to_copy(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        [source] = args
        target = kwargs.get("device") or source.device
        if target != _RESIDENT:
            return func(self._recording.read(source, "copy to the host"), **kwargs)
        made = func(source, **{**kwargs, "non_blocking": False})
        if source.is_meta:
            movements.copy(self._recording, made, source)
        else:
            movements.upload(self._recording, made, source)
        return made

    def _item(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return func(self._recording.read(args[0], "item"))

    def _constant(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Small tables that the host makes and sends; larger ones a kernel had better make."""
        made = func(*args, **kwargs)
        if made.numel() * made.element_size() > MAX_UPLOAD_BYTES:
            return self._foreign(func, args, kwargs)
        movements.upload(self._recording, made, func(*args, **{**kwargs, "device": _HOST}))
        return made

    def _foreign(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Gives the right shapes, so that all such operators of a call are found."""
        name = func._schema.name.removeprefix("aten::")
        calling = name_of(self._recording.function) or f"torch.{name.strip('_')}"
        written = [
            argument
            for argument, declared in zip(args, func._schema.arguments, strict=False)
            if declared.is_write and isinstance(argument, torch.Tensor)
        ]
        if name in _DISGUISES:
            raise Unplannable(f"host code uses `{calling}` ({self._recording.place()})")
        try:
            made = func(*_moved(args), **_moved(kwargs))
        except Exception:
            # It needs values to know its shape, or memory: what it is called counts.
            self._recording.note_foreign(calling, name, [])
            raise
        self._recording.note_foreign(calling, name, [*written, *_tensors(made)])
        return made


_HOMES = {
    "torch._C._nn": "torch.nn.functional",
    "torch._C": "torch",
    "torch._linalg": "torch.linalg",
    "torch.functional": "torch",
}


def name_of(function: Any) -> str:
    """A function of torch as host code calls it: `torch.softmax`, `torch.Tensor.sum`."""
    name = getattr(function, "__name__", "")
    if not name or name == "__get__":
        return ""
    if hasattr(function, "__objclass__") or getattr(function, "__qualname__", "").startswith("Tensor."):
        return f"torch.Tensor.{name}"
    module = getattr(function, "__module__", None) or "torch"
    for inner, public in _HOMES.items():
        module = module.replace(inner, public)
    return f"{module}.{name.removeprefix('linalg_')}"


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _tensors(item)
    elif isinstance(value, dict):
        yield from _tensors(list(value.values()))


def _moved(value: Any) -> Any:
    """The arguments of an operator, all on the device."""
    if isinstance(value, torch.Tensor):
        return value if value.is_meta or value.dim() == 0 else torch.empty_like(value, device="meta")
    if isinstance(value, list | tuple):
        return type(value)(_moved(item) for item in value)
    if isinstance(value, dict):
        return {key: _moved(item) for key, item in value.items()}
    return value
