"""Bundles carry tensors between processes and trust nothing."""

from __future__ import annotations

import json
import math
import struct

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kernelvault.replay import bundle
from kernelvault.v1 import kernel_pb2


def _with_header(header: object, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    start = -(-(8 + len(text)) // 64) * 64
    return (struct.pack("<4sI", b"KVB1", len(text)) + text).ljust(start, b"\0") + data


def _entry(**changes: object) -> dict[str, object]:
    entry: dict[str, object] = {
        "name": "x",
        "dtype": "float32",
        "dims": [2, 3],
        "strides": [3, 1],
        "offset_elements": 0,
        "storage_offset": 0,
        "storage_bytes": 24,
    }
    return entry | changes


_VIEWS = st.sampled_from(sorted(bundle.DTYPES)).flatmap(
    lambda dtype: st.lists(st.integers(0, 4), max_size=4).map(lambda dims: bundle.contiguous_view(dtype, dims))
)
_TENSORS = st.builds(
    lambda name, view: bundle.Item(name, view, memoryview(bytes(range(256)) * 8)[: bundle.span_bytes(view)]),
    st.text(max_size=8),
    _VIEWS,
)
_SCALARS = st.builds(
    lambda name, value: bundle.Item(name, scalar=value),
    st.text(max_size=8),
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False),
)


@given(st.lists(_TENSORS | _SCALARS, max_size=6))
def test_reading_gives_back_what_was_packed(items: list[bundle.Item]) -> None:
    """A bundle carries names, views, bytes and scalars unchanged, at the size that was announced."""
    packed = bundle.pack(items)
    assert len(packed) == bundle.size_bytes(items)
    again = bundle.read(packed)
    assert [(i.name, i.view, i.scalar) for i in again] == [(i.name, i.view, i.scalar) for i in items]
    assert [i.storage for i in again] == [i.storage for i in items]


def _malformed_or_fine(data: bytes) -> None:
    try:
        items = bundle.read(data)
    except bundle.Malformed:
        return
    for item in items:
        bundle.to_numpy(item)


@given(st.binary(max_size=400))
@example(b"KVB1\xff\xff\xff\xff")
def test_random_bytes_are_malformed_at_worst(data: bytes) -> None:
    """Whatever the bytes, reading raises Malformed or gives items that can be looked at."""
    _malformed_or_fine(data)
    _malformed_or_fine(b"KVB1" + data)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=10,
)
_NUMBERS = st.integers(-2, 70) | st.integers()
_ENTRIES = st.fixed_dictionaries(
    {},
    optional={
        "name": st.text(max_size=4) | _JSON,
        "dtype": st.sampled_from(sorted(bundle.DTYPES)) | _JSON,
        "dims": st.lists(_NUMBERS, max_size=3) | _JSON,
        "strides": st.lists(_NUMBERS, max_size=3) | _JSON,
        "offset_elements": _NUMBERS | _JSON,
        "storage_offset": st.sampled_from([0, 64, 128]) | _NUMBERS | _JSON,
        "storage_bytes": _NUMBERS | _JSON,
        "int": _NUMBERS | _JSON,
        "float": _JSON,
    },
)


@settings(max_examples=400)
@given(st.lists(_ENTRIES, max_size=3), st.binary(max_size=200))
def test_hostile_headers_are_malformed_at_worst(entries: list[dict[str, object]], data: bytes) -> None:
    """A header that parses but lies never leads a reader out of its buffer."""
    _malformed_or_fine(_with_header({"tensors": entries}, data))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "0 bytes are too few for a bundle"),
        (b"PK\3\4aaaa", r"starts with b'PK\\x03\\x04' instead of b'KVB1'"),
        (b"KVB1\xff\xff\xff\x7f", "a header of 2147483647 bytes is longer than the buffer or than 1048576"),
        (_with_header(b"[" * 100_000), "the header is no JSON"),
        (_with_header([]), "no list `tensors`"),
        (_with_header({"tensors": [_entry(dtype="complex64")]}), "unknown dtype 'complex64'"),
        (_with_header({"tensors": [_entry()]}), r"tensors\[0\]: its storage \[0, 24\) is misaligned or beyond 0 bytes"),
        (_with_header({"tensors": [_entry(storage_offset=8)]}, b"0" * 64), "misaligned"),
        (_with_header({"tensors": [_entry(strides=[4, 1])]}, b"0" * 64), "the view needs 28 bytes, its storage has 24"),
        (_with_header({"tensors": [_entry(dims=[2])]}, b"0" * 64), "1 dims and 2 strides"),
        (_with_header({"tensors": [_entry(strides=[-3, 1])]}, b"0" * 64), r"tensors\[0\].strides is no number"),
        (_with_header({"tensors": [_entry(dims=[1 << 40, 1 << 40], strides=[0, 0])]}), "more than"),
        (_with_header({"tensors": [_entry(dims=[True, 3])]}), r"tensors\[0\].dims is no number"),
        (_with_header({"tensors": [{"name": "n", "int": 1 << 64}]}), r"tensors\[0\].int is no int of 64 bits"),
        (_with_header({"tensors": [{"name": "n", "bool": 1}]}), r"tensors\[0\].bool is no bool"),
    ],
)
def test_malformed_bundles_say_where(data: bytes, message: str) -> None:
    """Each way to be malformed has a message that names the entry and the numbers."""
    with pytest.raises(bundle.Malformed, match=message):
        bundle.read(data)


def test_a_shared_storage_is_written_once() -> None:
    """Tied weights are one storage in the bundle and one after reading."""
    storage = memoryview(bytes(4096))
    view = bundle.contiguous_view("float32", [1024])
    packed = bundle.pack([bundle.Item("a", view, storage), bundle.Item("b", view, storage)])
    first, second = bundle.read(packed)
    assert len(packed) < 2 * 4096
    assert first.storage is second.storage


def test_bytes_after_the_last_storage_are_allowed() -> None:
    """A memory file is larger than what is written to it."""
    packed = bundle.pack([bundle.Item("n", scalar=3)])
    assert bundle.read(packed + bytes(1000))[0].scalar == 3


def test_a_buffer_that_is_too_small_is_refused() -> None:
    """Writing into a memory file that is too small is an error before a byte is written."""
    buffer = bytearray(16)
    with pytest.raises(bundle.Malformed, match="the buffer has 16"):
        bundle.pack_into([bundle.Item("n", scalar=3)], memoryview(buffer))
    assert buffer == bytes(16)


def test_strided_views_become_strided_arrays() -> None:
    """A transposed view reads its storage by its strides."""
    data = np.arange(6, dtype=np.int32)
    view = kernel_pb2.TensorView(dtype="int32", dims=[2, 2], strides=[1, 3], offset_elements=1)
    array = bundle.to_numpy(bundle.Item("x", view, memoryview(data)))
    assert array.tolist() == [[1, 4], [2, 5]]


def test_an_expanded_view_takes_no_memory() -> None:
    """A view of 2^40 elements with stride 0 costs as much as its storage."""
    view = kernel_pb2.TensorView(dtype="bfloat16", dims=[1 << 20, 1 << 20], strides=[0, 0])
    assert bundle.to_numpy(bundle.Item("x", view, memoryview(b"\x80\x3f")))[5, 7] == 1.0


@pytest.mark.parametrize("dtype", [d for d in bundle.DTYPES if d.startswith(("bfloat", "float8"))])
def test_narrow_floats_decode_as_torch_does(dtype: str) -> None:
    """Every bit pattern of bfloat16 and float8 has torch's value."""
    torch = pytest.importorskip("torch")
    count = 1 << (8 * bundle.element_bytes(dtype))
    codes = np.arange(count, dtype=np.uint16 if count > 256 else np.uint8)
    view = bundle.contiguous_view(dtype, [count])
    ours = bundle.to_numpy(bundle.Item("x", view, memoryview(codes)))
    theirs = (
        torch.from_numpy(codes.view(np.int16 if count > 256 else np.uint8)).view(getattr(torch, dtype)).float().numpy()
    )
    np.testing.assert_array_equal(ours, theirs)
    assert math.copysign(1, ours[np.isfinite(ours)][-1]) == -1


def test_an_unknown_scalar_is_refused() -> None:
    """Only int, float and bool are scalars."""
    with pytest.raises(bundle.Malformed, match="type NoneType"):
        bundle.pack([bundle.Item("n")])
