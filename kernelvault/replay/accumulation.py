"""Counts how many roundings stand behind one output element of a torch computation.

A sum of n terms rounds n times, in whatever order; an elementwise operator rounds once. The counter adds up, over all
operators that a computation dispatches, the length of the sum that makes one element of the operator's result.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

# They move or choose elements and round nothing, however large their inputs are.
_EXACT = """embedding index index_select gather take max min amax amin argmax argmin topk sort clone copy_ _to_copy
constant_pad_nd cat stack where masked_fill scatter index_put max_pool2d_with_indices max_pool3d_with_indices
sign neg abs eq ne lt le gt ge logical_not bitwise_not any all full zeros ones arange empty tril triu"""
_INNER = ("mm", "bmm", "dot", "mv", "vdot", "_int_mm")
_ADDED_INNER = ("addmm", "baddbmm", "addmv", "addbmm")
_ALONG = ("_softmax", "_log_softmax", "_safe_softmax", "cumsum", "cumprod", "logcumsumexp")
_CONVOLUTIONS = ("convolution", "_convolution", "convolution_overrideable")
_exact_names = frozenset(_EXACT.split())


class AccumulationCounter(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """While active, `length` grows by each operator's."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.length = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Calls `func` and counts it."""
        result = func(*args, **(kwargs or {}))
        if not func.is_view:
            self.length += _length(func.overloadpacket.__name__.rstrip("_"), args, result)
        return result


def _length(name: str, args: Any, result: Any) -> int:
    inputs = [leaf for leaf in tree_leaves(args) if isinstance(leaf, torch.Tensor)]
    outputs = [leaf for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor)]
    floating = [tensor for tensor in outputs if tensor.dtype.is_floating_point or tensor.dtype.is_complex]
    if name in _exact_names or not floating or not inputs:
        return 0
    return max(1, _by_name(name, args, inputs) or inputs_per_output(inputs, floating))


def _by_name(name: str, args: Any, inputs: list[torch.Tensor]) -> int:
    """The length of a known operator, 0 for others."""
    if name in _INNER:
        return inputs[0].shape[-1]
    if name in _ADDED_INNER:
        return inputs[1].shape[-1]
    if name in _ALONG:
        return inputs[0].size(int(args[1])) if inputs[0].dim() else 1
    if name in _CONVOLUTIONS:
        kept = inputs[1].shape[1 if args[6] else 0]
        return inputs[1].numel() // max(1, kept)
    if name == "native_layer_norm":
        return math.prod(int(size) for size in args[1])
    if name == "native_group_norm":
        return inputs[0].numel() // max(1, int(args[3]) * int(args[6]))
    if "scaled_dot_product" in name:
        return inputs[0].shape[-1] + inputs[1].shape[-2]
    return 0


def inputs_per_output(inputs: list[torch.Tensor], outputs: list[torch.Tensor]) -> int:
    """How many elements of the largest input there are to one element of the largest output."""
    most = max(tensor.numel() for tensor in inputs)
    return most // max(1, *(tensor.numel() for tensor in outputs))
