"""Fills, copies and uploads of tensors on the device, as operations of a plan."""

from __future__ import annotations

import torch

from kernelvault.v1 import plan_pb2
from svc_compiler.triton.recording import MAX_UPLOAD_BYTES, Recording, Unplannable


def fill(recording: Recording, tensor: torch.Tensor, value: torch.Tensor) -> None:
    """Every element becomes `value`, one element on the host."""
    if tensor.numel() == 0:
        return
    index, view = recording.number(tensor), recording.view(tensor)
    pattern = _bytes(value.reshape(1).to(tensor.dtype))
    if _is_dense(tensor):
        offset, size = view.offset_elements * len(pattern), tensor.numel() * len(pattern)
        recording.emit(fill=plan_pb2.Fill(buffer=index, offset=offset, size_bytes=size, pattern=pattern))
        return
    element = torch.empty(1, dtype=tensor.dtype, device="meta")
    number = recording.number(element)
    recording.emit(fill=plan_pb2.Fill(buffer=number, size_bytes=len(pattern), pattern=pattern))
    copy(recording, tensor, element)


def copy(recording: Recording, destination: torch.Tensor, source: torch.Tensor) -> None:
    """Elements of `source`, broadcast and converted, to `destination`; both on the device."""
    source = source.expand(destination.shape)
    if destination.numel() == 0:
        return
    ends = recording.number(source), recording.number(destination)
    views = recording.view(source), recording.view(destination)
    if ends[0] == ends[1]:
        if views[0] == views[1]:
            return
        first, second = (_range(tensor) for tensor in (source, destination))
        if first[0] < second[1] and second[0] < first[1]:
            raise Unplannable(f"host code copies between overlapping parts of a tensor ({recording.place()})")
    if views[0].dtype == views[1].dtype and source.stride() == destination.stride() and _is_dense(source):
        width = source.element_size()
        recording.emit(
            copy=plan_pb2.Copy(
                source=ends[0],
                source_offset=views[0].offset_elements * width,
                destination=ends[1],
                destination_offset=views[1].offset_elements * width,
                size_bytes=source.numel() * width,
            )
        )
        return
    recording.emit(
        convert=plan_pb2.Convert(source=ends[0], source_view=views[0], destination=ends[1], destination_view=views[1])
    )


def upload(recording: Recording, destination: torch.Tensor, host: torch.Tensor) -> None:
    """Elements on the host, broadcast and converted, to a tensor on the device."""
    if destination.numel() == 0:
        return
    recording.view(destination)
    host = host.detach().to(destination.dtype).expand(destination.shape)
    first = host[(0,) * host.dim()]
    if host.numel() > 1 and bool((_bits(host) == _bits(first)).all()):
        fill(recording, destination, first)
        return
    if host.numel() * host.element_size() > MAX_UPLOAD_BYTES:
        recording.upload_too_large(destination, host.numel() * host.element_size())
        return
    target = destination
    if not destination.is_contiguous():
        target = torch.empty(tuple(destination.shape), dtype=destination.dtype, device="meta")
    offset = int(target.storage_offset()) * target.element_size()
    recording.emit(upload=plan_pb2.Upload(buffer=recording.number(target), offset=offset, data=_bytes(host)))
    if target is not destination:
        copy(recording, destination, target)


def _is_dense(tensor: torch.Tensor) -> bool:
    """Whether the elements fill a range of memory, each place once."""
    expected = 1
    sizes = zip(tensor.stride(), tensor.shape, strict=True)
    for stride, size in sorted((stride, size) for stride, size in sizes if size > 1):
        if stride != expected:
            return False
        expected *= size
    return True


def _range(tensor: torch.Tensor) -> tuple[int, int]:
    """The elements of the storage that the tensor reaches: first, and after the last."""
    reach = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    first = int(tensor.storage_offset())
    return first, first + reach + 1


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    widths = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return tensor.contiguous().view(widths[tensor.element_size()])


def _bytes(host: torch.Tensor) -> bytes:
    return bytes(host.contiguous().reshape(-1).view(torch.uint8).numpy())
