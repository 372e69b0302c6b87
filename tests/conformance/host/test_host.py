"""What host code does around launches."""

from __future__ import annotations

import numpy as np

from tests.conformance.harness import Array, Feature, NeedsDevice, Refuses, numbers

host = Feature(__file__)

X = {"x": numbers(1000)}


@host.program(**X)
def scratch(x: Array) -> Array:
    """Memory of its own."""
    return x * np.float32(4)


@host.program(**X)
def stream_ordered_scratch(x: Array) -> Array:
    """Memory in the order of a stream."""
    return x * np.float32(4)


@host.program(**X)
def fills(x: Array) -> Array:
    """Fills by bytes and by words."""
    return np.full(64, 0x01010101 + 5, np.int32)


@host.program(**X)
def copies_on_the_device(x: Array) -> Array:
    """Copies within the device, of both kinds."""
    return np.concatenate([x[500:] * np.float32(2), x[:500]])


@host.program(**X)
def copies_of_rows(x: Array) -> Array:
    """A part of each row."""
    return np.ascontiguousarray(x.reshape(25, 40)[:, :20])


@host.program(**X)
def upload(x: Array) -> Array:
    """A small table from the host."""
    return x * np.resize(np.array([1, 2, 4], np.float32), 1000)


@host.program(**X)
def events_in_order(x: Array) -> Array:
    """Two streams that wait for each other by events."""
    return x * np.float32(4)


@host.program(**X)
def timing(x: Array) -> Array:
    """Elapsed time is a number; nothing may depend on which."""
    return x * np.float32(2)


@host.program(**X)
def properties(x: Array) -> Array:
    """An MI300X answers: 64 lanes, and its number of units twice."""
    return x * np.float32(2)


@host.program(**X)
def occupancy(x: Array) -> Array:
    """A block size that the runtime proposes."""
    return x * np.float32(2)


@host.program(**X)
def errors(x: Array) -> Array:
    """Nothing went wrong."""
    return x * np.float32(2)


@host.program(**X)
def decides_by_size(x: Array) -> Array:
    """Host code looks at sizes."""
    return x * np.float32(2)


@host.program(**X)
def decides_by_data(x: Array) -> Array:
    """Host code reads a count that a kernel made."""
    return (np.arange(1000) < (x > 0).sum()).astype(np.float32)


@host.program(**X)
def dynamic_limit(x: Array) -> Array:
    """All of the 64 KiB, asked for as some code does."""
    return x[255::-1].copy()


@host.program(**X)
def too_much_shared(x: Array) -> Refuses:
    """More than 64 KiB: the launch fails."""
    return Refuses(
        "CRASHED", "fails: more dynamic LDS than a compute unit has: grid (1, 1, 1), block (64, 1, 1), 65540"
    )


@host.program(target="gfx950", **X)
def all_of_160_kib(x: Array) -> Array:
    """gfx950 has 160 KiB, for which host code asks."""
    return x[255::-1].copy()


@host.program(**X)
def less_after_a_failure(x: Array) -> Array:
    """On gfx942 the launch with 160 KiB fails; host code sees it and does with less."""
    return x[255::-1].copy()


@host.program(**X)
def smaller_after_a_failure(x: Array) -> Array:
    """Blocks of 2048 threads fail, and so does an empty grid; each time host code sees it and goes on."""
    return x * np.float32(2)


@host.program(**X)
def failure_unseen(x: Array) -> Refuses:
    """A failed launch before a good one, which nobody looks at."""
    return Refuses("CRASHED", "fails: a block has more than 1024 threads")


@host.program(**X)
def static_and_dynamic_shared(x: Array) -> Refuses:
    """Both together are more than 64 KiB."""
    return Refuses("CRASHED", "launched with 72000 bytes of shared memory; gfx942 has 65536")


@host.program(**X)
def managed(x: Array) -> NeedsDevice:
    """Memory of both sides needs a device, by name."""
    return NeedsDevice("calls `hipMallocManaged`")


@host.program(**X)
def pinned_in_a_kernel(x: Array) -> NeedsDevice:
    """A kernel that reads host memory."""
    return NeedsDevice("a kernel that uses pinned host memory")


@host.program(**X)
def host_writes_device_memory(x: Array) -> Refuses:
    """Host code does not touch device memory."""
    return Refuses("REJECTED", "device memory")


@host.program(**X)
def aborts(x: Array) -> Refuses:
    """Host code that ends itself."""
    return Refuses("CRASHED", "SIGABRT")


@host.program(**X)
def graph(x: Array) -> NeedsDevice:
    """Graphs need a device, and are named."""
    return NeedsDevice("hipStreamBeginCapture")


@host.program(**X)
def texture(x: Array) -> Refuses:
    """Textures are unsupported: CDNA has none."""
    return Refuses("COMPILE_FAILED", "image/texture API not supported")


@host.program(**X)
def texture_object(x: Array) -> NeedsDevice:
    """Nor on the host."""
    return NeedsDevice("hipCreateTextureObject")


test_host = host.test()
