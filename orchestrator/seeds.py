"""Kernels from elsewhere that a run ports."""

from __future__ import annotations

import re
from pathlib import Path

from kernelvault import digest
from kernelvault.v1.kernel_pb2 import Provenance, SeedKernel
from orchestrator.mistake import Mistake
from orchestrator.tasks import read_source

_TRITON = re.compile(r"^\s*@(?:triton\.)?(?:jit|autotune|heuristics)\b", re.M)
_DEVICE_CODE = re.compile(r"\b__global__\b")
_HIP = re.compile(r"hip/hip_\w+\.h|\bhip(?:Stream_t|Malloc|Memcpy|LaunchKernel|DeviceSynchronize)\b")


def chosen(path: Path | None, license_: str) -> SeedKernel | None:
    """What `--seed-kernel` and `--seed-license` mean together; raises Mistake."""
    if path is None and license_:
        raise Mistake("--seed-license is of a seed kernel: give --seed-kernel too")
    return read(path, license_=license_) if path else None


def read(path: Path, *, license_: str = "") -> SeedKernel:
    """The seed kernel in a file; its licence is unknown unless given. Raises Mistake if the file holds no kernel."""
    source = read_source(path)
    try:
        text = source.decode()
    except UnicodeDecodeError as error:
        raise Mistake(
            f"failed to read {str(path)!r} as a seed kernel: it is not UTF-8 text; give its source"
        ) from error
    return SeedKernel(
        dialect=_dialect(path, text),
        sources=[digest.artifact(path.name, source)],
        provenance=Provenance(source=str(path), license=license_),
    )


def describe(seed: SeedKernel) -> str:
    """One line that says which seed it is, to people and to programs."""
    files = ", ".join(f"{source.path} ({source.digest.hash[:12]})" for source in seed.sources)
    return f"{SeedKernel.Dialect.Name(seed.dialect)} {files}"


def without_contents(seed: SeedKernel) -> SeedKernel:
    """A copy whose sources are known by their digests alone."""
    bare = SeedKernel()
    bare.CopyFrom(seed)
    for source in bare.sources:
        source.ClearField("contents")
    return bare


def _dialect(path: Path, text: str) -> SeedKernel.Dialect:
    if _TRITON.search(text):
        return SeedKernel.TRITON
    if not _DEVICE_CODE.search(text):
        raise Mistake(
            f"failed to find a kernel in {str(path)!r}: a seed kernel is a CUDA or HIP source with a `__global__` "
            "function or a Python module with `@triton.jit`"
        )
    return SeedKernel.HIP if path.suffix == ".hip" or _HIP.search(text) else SeedKernel.CUDA
