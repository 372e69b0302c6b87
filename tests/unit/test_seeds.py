"""Seed kernels: what a file holds, and what is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelvault.v1.kernel_pb2 import Provenance, SeedKernel
from orchestrator import candidates, seeds
from orchestrator.mistake import Mistake
from orchestrator.options import Options


@pytest.mark.parametrize(
    ("name", "source", "dialect"),
    [
        ("k.cu", "__global__ void k() {}", SeedKernel.CUDA),
        ("k.cuh", "#include <cuda_runtime.h>\n__global__ void k() {}", SeedKernel.CUDA),
        ("k.cpp", "#include <hip/hip_runtime.h>\n__global__ void k() {}", SeedKernel.HIP),
        ("k.hip", "__global__ void k() {}", SeedKernel.HIP),
        ("k.py", "import triton\n@triton.jit\ndef k(): ...", SeedKernel.TRITON),
        ("k.py", "@triton.autotune([])\n@triton.jit\ndef k(): ...", SeedKernel.TRITON),
        ("k.py", "source = '''__global__ void k() {}'''", SeedKernel.CUDA),
    ],
)
def test_the_dialect_is_found_out(tmp_path: Path, name: str, source: str, dialect: SeedKernel.Dialect) -> None:
    """What a kernel is written in is seen from the file."""
    path = tmp_path / name
    path.write_text(source)
    assert seeds.read(path).dialect == dialect


def test_a_seed_says_where_it_is_from(tmp_path: Path) -> None:
    """The licence is unknown unless the user says it."""
    path = tmp_path / "k.cu"
    path.write_text("__global__ void k() {}")
    assert seeds.read(path).provenance == Provenance(source=str(path))
    assert seeds.read(path, license_="MIT").provenance.license == "MIT"


@pytest.mark.parametrize(
    ("contents", "words"),
    [
        (b"", "is empty"),
        (b"print(1)", "`__global__` function or a Python module with `@triton.jit`"),
        (b"\x7fELF\xff\xfe", "not UTF-8 text"),
        (b"x" * (1 << 20) + b"x", "above the limit"),
    ],
)
def test_a_wrong_file_is_a_mistake(tmp_path: Path, contents: bytes, words: str) -> None:
    """The message says what is wrong with the file."""
    path = tmp_path / "k.cu"
    path.write_bytes(contents)
    with pytest.raises(Mistake, match=words):
        seeds.read(path)


def test_a_missing_file_is_a_mistake(tmp_path: Path) -> None:
    """Nothing there, or a folder."""
    with pytest.raises(Mistake, match="there is no such file"):
        seeds.read(tmp_path / "none.cu")
    with pytest.raises(Mistake, match="is a folder"):
        seeds.read(tmp_path)


def test_a_run_goes_on_with_the_same_seed_only(tmp_path: Path) -> None:
    """The journal knows which seed a run began with, by its bytes."""
    path = tmp_path / "k.cu"
    path.write_text("__global__ void k() {}")
    first = Options(seed=seeds.read(path)).decisive()["seed"]
    path.write_text("__global__ void l() {}")
    second = Options(seed=seeds.read(path)).decisive()["seed"]
    assert str(first).startswith("CUDA k.cu (")
    assert first != second
    assert "seed" not in Options().decisive()


@pytest.mark.parametrize(
    ("language", "format_", "chosen"),
    [
        ("", "", "hip-abi"),
        ("hip", "", "hip-abi"),
        ("hip", "hip-torch", "hip-torch"),
        ("triton", "", "triton"),
        ("", "triton", "triton"),
    ],
)
def test_a_language_has_a_format(language: str, format_: str, chosen: str) -> None:
    """Either says what is wanted."""
    assert candidates.format_of(language, format_) == chosen


@pytest.mark.parametrize(
    ("language", "format_", "words"),
    [("cuda", "", "known are hip, triton"), ("triton", "hip-abi", "is written in hip"), ("", "ptx", "unknown format")],
)
def test_a_wrong_language_is_a_mistake(language: str, format_: str, words: str) -> None:
    """What does not fit together is said before anything starts."""
    with pytest.raises(Mistake, match=words):
        candidates.format_of(language, format_)
