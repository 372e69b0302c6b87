"""Products and convolutions in a form that Inductor fuses into `tl.dot`, where it would call a library."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

# What `tl.dot` multiplies here; float64 is summed up without it.
_DOT = (torch.float16, torch.bfloat16, torch.float32)


def mm(self: torch.Tensor, mat2: torch.Tensor) -> torch.Tensor:
    """A product of matrices; one with a dimension of 1 in every case is a plain sum."""
    if _dots(self, mat2):
        return torch.mm(self, mat2)
    return (self.unsqueeze(-1) * mat2.unsqueeze(0)).sum(1)


def bmm(self: torch.Tensor, mat2: torch.Tensor) -> torch.Tensor:
    """A product of matrices for each element of a batch."""
    if _dots(self, mat2):
        return torch.bmm(self, mat2)
    return (self.unsqueeze(-1) * mat2.unsqueeze(1)).sum(2)


def convolution(  # noqa: PLR0917
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> torch.Tensor:
    """A convolution as a product with the windows of its input, which are views of memory."""
    if transposed:
        input, weight, pads = _turned(input, weight, stride, padding, dilation, output_padding, groups)
        stride = [1] * len(stride)
    else:
        pads = [p for pad in reversed(padding) for p in (pad, pad)]
    rank = input.dim() - 2
    windows = _windows(input, weight.shape[2:], stride, pads, dilation)
    batch, spatial = input.shape[0], windows.shape[2 : 2 + rank]
    channels, filters = weight.shape[1], weight.shape[0]
    grouped = windows.reshape(batch, groups, channels, *spatial, *weight.shape[2:])
    last = range(3 + rank, 3 + 2 * rank)
    # Groups first; then a row for each place, a column for each element of the window.
    order = [1, 0, *range(3, 3 + rank), 2, *last]
    depth = channels * math.prod(weight.shape[2:])
    rows = grouped.permute(order).reshape(groups, -1, depth)
    kernels = weight.reshape(groups, filters // groups, depth).transpose(1, 2)
    if isinstance(groups, int) and groups == 1:
        product = mm(rows.squeeze(0), kernels.squeeze(0)).unsqueeze(0)
    else:
        product = bmm(rows, kernels)
    result = product.reshape(groups, batch, *spatial, filters // groups)
    back = [1, 0, 2 + rank, *range(2, 2 + rank)]
    result = result.permute(back).reshape(batch, filters, *spatial)
    return result if bias is None else result + bias.reshape(filters, *[1] * rank)


def _turned(  # noqa: PLR0917
    input: torch.Tensor,
    weight: torch.Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    output_padding: Sequence[int],
    groups: int,
) -> tuple[torch.Tensor, torch.Tensor, list[int]]:
    """Input, weight and pads of the convolution that a transposed one is: zeros between elements, a turned kernel."""
    rank = len(stride)
    for axis, step in enumerate(stride):
        if step != 1:
            length = input.shape[2 + axis]
            spread = torch.ops.aten.constant_pad_nd.default(input.unsqueeze(3 + axis), _pads(axis, rank, step - 1), 0)
            shape = [*input.shape[: 2 + axis], length * step, *input.shape[3 + axis :]]
            input = torch.ops.aten.slice.Tensor(spread.reshape(shape), 2 + axis, 0, length * step - step + 1)
    channels, filters = weight.shape[0] // groups, weight.shape[1]
    turned = torch.flip(weight, list(range(2, 2 + rank))).reshape(groups, channels, filters, *weight.shape[2:])
    turned = turned.transpose(1, 2).reshape(groups * filters, channels, *weight.shape[2:])
    reach = [(size - 1) * spread for size, spread in zip(weight.shape[2:], dilation, strict=True)]
    ends = zip(reversed(reach), reversed(padding), reversed(output_padding), strict=True)
    return input, turned, [pad for far, cut, more in ends for pad in (far - cut, far - cut + more)]


def _pads(axis: int, rank: int, count: int) -> list[int]:
    """Pads after each element of an axis that was made for it, in the order that torch wants: the last axis first."""
    return [0, 0] * (rank - axis - 1) + [0, count]


def _windows(
    input: torch.Tensor, kernel: Sequence[int], stride: Sequence[int], pads: Sequence[int], dilation: Sequence[int]
) -> torch.Tensor:
    """A view of the padded input: batch, channels, places, elements of the window."""
    padded = input.contiguous()
    if any(pads):
        padded = torch.ops.aten.constant_pad_nd.default(padded, pads, 0)
    places = [
        (length - (size - 1) * spread - 1) // step + 1
        for length, size, spread, step in zip(padded.shape[2:], kernel, dilation, stride, strict=True)
    ]
    steps = padded.stride()
    moves = [a * b for a, b in zip(steps[2:], stride, strict=True)]
    spreads = [a * b for a, b in zip(steps[2:], dilation, strict=True)]
    sizes = [*padded.shape[:2], *places, *kernel]
    return torch.as_strided(padded, sizes, [*steps[:2], *moves, *spreads])


def prims_var(
    inp: torch.Tensor, dims: Sequence[int] | None, correction: float | None = 1, output_dtype: Any = None
) -> torch.Tensor:
    """A variance; Inductor's lowering of torch's own form takes fewer arguments than the operator."""
    return torch.var(inp, None if dims is None else list(dims), correction=correction)


def _dots(a: torch.Tensor, b: torch.Tensor) -> bool:
    sizes = (a.shape[-2], a.shape[-1], b.shape[-1])
    return a.dtype in _DOT and not any(isinstance(size, int) and size <= 1 for size in sizes)


RULES: dict[str, Callable[..., Any]] = {
    "aten.mm.default": mm,
    "aten.bmm.default": bmm,
    "aten.convolution.default": convolution,
    "prims.var.default": prims_var,
}
