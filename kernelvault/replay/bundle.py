"""Bundles: named tensors and scalars in one bounded binary container, in which all values pass between processes.

Layout: the magic `KVB1`, the header's length as a little-endian u32, a JSON header of at most 1 MiB, zeros up to a
multiple of 64 bytes, then the storages, each at a multiple of 64 bytes from there. The header:

    {"tensors": [{"name", "dtype", "dims", "strides", "offset_elements", "storage_offset", "storage_bytes"}
                 | {"name", "int" | "float" | "bool": value}]}

`storage_offset` counts from the first storage. Tensors that name the same range share it. A reader trusts nothing:
every view lies in its storage, every storage in the buffer. Bytes after the last storage are allowed, because a child
writes to a memory file of a fixed size.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from kernelvault.replay.bundle_views import (
    DTYPES,
    MAX_ELEMENTS,
    Malformed,
    check_view,
    contiguous_view,
    element_bytes,
    element_count,
    natural,
    read_view,
    span_bytes,
)
from kernelvault.v1 import kernel_pb2

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "DTYPES",
    "MAX_ELEMENTS",
    "Item",
    "Malformed",
    "check_view",
    "contiguous_view",
    "element_bytes",
    "element_count",
    "pack",
    "pack_into",
    "read",
    "size_bytes",
    "span_bytes",
    "to_numpy",
]

MAGIC = b"KVB1"
ALIGNMENT = 64
MAX_HEADER_BYTES = 1 << 20
MAX_ITEMS = 1 << 12
MAX_NAME_CHARACTERS = 1 << 10
_PREFIX = struct.Struct("<4sI")
_SCALARS: dict[str, type[Any]] = {"int": int, "float": float, "bool": bool}


@dataclass(frozen=True)
class Item:
    """A tensor (`view` into `storage`) or a number (`scalar`), with its name."""

    name: str
    view: kernel_pb2.TensorView | None = None
    storage: memoryview | None = None
    scalar: int | float | bool | None = None


def size_bytes(items: Sequence[Item]) -> int:
    """The size of `pack(items)`."""
    header, storages = _lay_out(items)
    return _data_start(len(header)) + sum(_aligned(storage.nbytes) for storage in storages)


def pack(items: Sequence[Item]) -> bytes:
    """The bundle of `items`; a storage that several items hold (the same object) is written once.

    Raises Malformed for items that `read` would refuse.
    """
    buffer = bytearray(size_bytes(items))
    pack_into(items, memoryview(buffer))
    return bytes(buffer)


def pack_into(items: Sequence[Item], buffer: memoryview) -> int:
    """Writes the bundle at the start of `buffer` and returns its size; raises Malformed if it does not fit."""
    header, storages = _lay_out(items)
    position = _data_start(len(header))
    total = position + sum(_aligned(storage.nbytes) for storage in storages)
    if total > buffer.nbytes:
        raise Malformed(f"the bundle needs {total} bytes, the buffer has {buffer.nbytes}")
    buffer[: _PREFIX.size] = _PREFIX.pack(MAGIC, len(header))
    buffer[_PREFIX.size : _PREFIX.size + len(header)] = header
    for storage in storages:
        buffer[position : position + storage.nbytes] = storage.cast("B")
        position += _aligned(storage.nbytes)
    return total


def read(buffer: bytes | bytearray | memoryview) -> list[Item]:
    """The items of a bundle, their storages being slices of `buffer`; raises Malformed for anything else."""
    data = memoryview(buffer).cast("B")
    if data.nbytes < _PREFIX.size:
        raise Malformed(f"{data.nbytes} bytes are too few for a bundle")
    magic, length = _PREFIX.unpack_from(data)
    if magic != MAGIC:
        raise Malformed(f"starts with {bytes(magic)!r} instead of {MAGIC!r}")
    if length > MAX_HEADER_BYTES or _PREFIX.size + length > data.nbytes:
        raise Malformed(f"a header of {length} bytes is longer than the buffer or than {MAX_HEADER_BYTES}")
    entries = _parse_header(bytes(data[_PREFIX.size : _PREFIX.size + length]))
    storages: dict[tuple[int, int], memoryview] = {}
    return [
        _read_item(entry, f"tensors[{i}]", data[_data_start(length) :], storages) for i, entry in enumerate(entries)
    ]


def to_numpy(item: Item) -> np.ndarray[Any, Any]:
    """The item as an array: a strided view of its storage, or of the storage decoded to float32 (bfloat16, float8).

    A scalar gives an array without dimensions. Memory is bounded by the storage's size, whatever the view says.
    """
    import numpy as np

    from kernelvault.replay import narrow_floats

    if item.view is None or item.storage is None:
        return np.asarray(item.scalar)
    dtype, size = item.view.dtype, element_bytes(item.view.dtype)
    storage = item.storage.cast("B")
    flat: np.ndarray[Any, Any]
    if narrow_floats.is_narrow(dtype):
        flat = narrow_floats.decode(storage[: storage.nbytes // size * size], dtype)
    else:
        flat = np.frombuffer(storage, dtype=np.dtype(dtype), count=storage.nbytes // size)
    if 0 in item.view.dims:
        return np.empty(tuple(item.view.dims), flat.dtype)
    strides = tuple(stride * flat.itemsize for stride in item.view.strides)
    return np.lib.stride_tricks.as_strided(
        flat[item.view.offset_elements :], tuple(item.view.dims), strides, writeable=False
    )


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _data_start(header_bytes: int) -> int:
    return _aligned(_PREFIX.size + header_bytes)


def _lay_out(items: Sequence[Item]) -> tuple[bytes, list[memoryview]]:
    """The header, and the distinct storages in the order in which they are written."""
    entries: list[dict[str, Any]] = []
    places: dict[int, int] = {}
    storages: list[memoryview] = []
    end = 0
    for index, item in enumerate(items):
        if item.view is None or item.storage is None:
            kind = _scalar_kind(item.scalar)
            entries.append(
                {"name": item.name, kind: _read_scalar(item.scalar, _SCALARS[kind], f"tensors[{index}].{kind}")}
            )
            continue
        if id(item.storage) not in places:
            places[id(item.storage)] = end
            storages.append(item.storage)
            end += _aligned(item.storage.nbytes)
        entry = _describe(item, places[id(item.storage)])
        read_view(entry, f"tensors[{index}]")
        entries.append(entry)
    header = json.dumps({"tensors": entries}, separators=(",", ":")).encode()
    if len(header) > MAX_HEADER_BYTES or len(entries) > MAX_ITEMS:
        raise Malformed(f"{len(entries)} items with a header of {len(header)} bytes are too many for a bundle")
    return header, storages


def _describe(item: Item, storage_offset: int) -> dict[str, Any]:
    assert item.view is not None
    assert item.storage is not None
    return {
        "name": item.name,
        "dtype": item.view.dtype,
        "dims": list(item.view.dims),
        "strides": list(item.view.strides),
        "offset_elements": item.view.offset_elements,
        "storage_offset": storage_offset,
        "storage_bytes": item.storage.nbytes,
    }


def _scalar_kind(scalar: object) -> str:
    for kind, type_ in _SCALARS.items():
        if type(scalar) is type_:
            return kind
    raise Malformed(f"a scalar of type {type(scalar).__name__} is no int, float or bool")


def _parse_header(header: bytes) -> list[Any]:
    try:
        parsed = json.loads(header)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"the header is no JSON: {str(error)[:200]}") from None
    entries = parsed.get("tensors") if isinstance(parsed, dict) else None
    if not isinstance(entries, list) or len(entries) > MAX_ITEMS:
        raise Malformed(f"the header has no list `tensors` of at most {MAX_ITEMS} entries")
    return entries


def _read_item(entry: Any, where: str, data: memoryview, storages: dict[tuple[int, int], memoryview]) -> Item:
    name = entry.get("name") if isinstance(entry, dict) else None
    if not isinstance(name, str) or len(name) > MAX_NAME_CHARACTERS or not _is_text(name):
        raise Malformed(f"{where} has no name of at most {MAX_NAME_CHARACTERS} characters")
    for kind, type_ in _SCALARS.items():
        if kind in entry:
            return Item(name, scalar=_read_scalar(entry[kind], type_, f"{where}.{kind}"))
    view = read_view(entry, where)
    start, size = (natural(entry, key, where) for key in ("storage_offset", "storage_bytes"))
    if start % ALIGNMENT or start + size > data.nbytes:
        raise Malformed(f"{where}: its storage [{start}, {start + size}) is misaligned or beyond {data.nbytes} bytes")
    if (start, size) not in storages:
        storages[start, size] = data[start : start + size]
    return Item(name, view, storages[start, size])


def _is_text(name: str) -> bool:
    """Whether every character may stand in a message: JSON can smuggle in lone surrogates."""
    return not any("\ud800" <= character <= "\udfff" for character in name)


def _read_scalar(value: Any, type_: type[Any], where: str) -> int | float | bool:
    if type(value) is not type_ or (type_ is int and not abs(2 * value + 1) < 1 << 64):
        raise Malformed(f"{where} is no {type_.__name__} of 64 bits")
    return cast("int | float | bool", value)
