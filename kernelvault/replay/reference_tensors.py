"""Between torch and bundles, inside the sandboxed child: views of tensors, flattened outputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch

from kernelvault.replay import bundle
from kernelvault.replay import reference_faults as faults
from kernelvault.v1 import kernel_pb2

Named = tuple[str, torch.Tensor]


def dtype_name(dtype: torch.dtype) -> str:
    """The dtype as bundles spell it; raises Unfit for one that no kernel gets."""
    name = str(dtype).removeprefix("torch.")
    if name not in bundle.DTYPES:
        raise faults.Unfit(f"uses tensors of {name}; use one of {', '.join(bundle.DTYPES)}")
    return name


def view(tensor: torch.Tensor) -> kernel_pb2.TensorView:
    """The tensor's sizes and strides, as a view of a storage that begins with its first element."""
    return kernel_pb2.TensorView(dtype=dtype_name(tensor.dtype), dims=tensor.shape, strides=tensor.stride())


def parameter(name: str, value: torch.Tensor | float) -> kernel_pb2.Parameter:
    """What a case says of an argument: the view of a tensor, the value of a number."""
    if isinstance(value, torch.Tensor):
        return kernel_pb2.Parameter(name=name, tensor=view(value))
    if isinstance(value, bool):
        return kernel_pb2.Parameter(name=name, bool_value=value)
    if isinstance(value, int):
        if not -(1 << 63) <= value < 1 << 63:
            raise faults.Unfit(f"gives the number {value} for {name!r}, which has more than 64 bits")
        return kernel_pb2.Parameter(name=name, int_value=value)
    return kernel_pb2.Parameter(name=name, float_value=value)


def items(named: Iterable[tuple[str, Any]]) -> list[bundle.Item]:
    """Bundle items of named tensors and numbers; tensors that see the same memory share a storage."""
    seen: dict[tuple[int, int], memoryview] = {}
    result = []
    for name, value in named:
        if not isinstance(value, torch.Tensor):
            result.append(bundle.Item(name, scalar=value))
            continue
        what = view(value)
        place = (value.data_ptr(), bundle.span_bytes(what))
        storage = seen.get(place)
        if storage is None or place[1] == 0:
            storage = seen[place] = _bytes(value, place[1])
        result.append(bundle.Item(name, what, storage))
    return result


def to_numpy(tensor: torch.Tensor) -> Any:
    """Floating-point elements in float64, others as they are."""
    return (tensor.double() if tensor.dtype.is_floating_point else tensor).numpy()


def flatten(value: Any) -> tuple[list[Named], bool]:
    """The tensors that a module returned, in order, and whether it returned a sequence; raises Unfit for others."""
    if isinstance(value, torch.Tensor):
        return [("out", value)], False
    flat: list[Named] = []
    _walk(value, "out", flat)
    if not flat:
        raise faults.Unfit(f"Model.forward returned {_kind(value)}; return a tensor, or a tuple of tensors")
    return flat, True


def same_bits(first: torch.Tensor, second: torch.Tensor) -> bool:
    """Whether two tensors have equal shapes, dtypes and bits (a NaN equals itself)."""
    if first.shape != second.shape or first.dtype != second.dtype:
        return False
    return torch.equal(_raw(first), _raw(second))


def is_generic(tensor: torch.Tensor) -> bool:
    """Whether a floating-point tensor holds values, as opposed to a mask (infinities, at most two distinct values)."""
    if not tensor.dtype.is_floating_point:
        return False
    if tensor.numel() <= 8:
        return True
    wide = tensor.detach().float().flatten()
    if not bool(torch.isfinite(wide).all()):
        return False
    low, high = wide.min(), wide.max()
    return not bool(((wide == low) | (wide == high)).all())


def _walk(value: Any, name: str, flat: list[Named]) -> None:
    if isinstance(value, torch.Tensor):
        flat.append((name, value))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            _walk(item, str(key), flat)
    elif isinstance(value, tuple | list):
        for index, item in enumerate(value):
            _walk(item, f"{name}_{index}", flat)
    elif value is not None:
        raise faults.Unfit(f"Model.forward returned {_kind(value)} as {name}; return tensors only")


def _kind(value: Any) -> str:
    return f"{type(value).__name__} {value!r}"[:80]


def _bytes(tensor: torch.Tensor, size: int) -> memoryview:
    if size == 0:
        return memoryview(b"")
    storage = tensor.untyped_storage()
    start = tensor.storage_offset() * tensor.element_size()
    flat = torch.empty(0, dtype=torch.uint8).set_(storage, start, (size,), (1,))
    return memoryview(flat.clone().numpy().data).cast("B")


def _raw(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().contiguous().reshape(-1).view(torch.uint8)
