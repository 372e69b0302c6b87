"""What a compile job leaves is read as the word of a stranger."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import pytest

from kernelvault.v1 import compiler_pb2, plan_pb2, triton_pb2
from svc_compiler.triton import complaints, images
from tests.triton_programs import program

NAMES = {"a": "*fp32", "n": "i32"}


def made() -> triton_pb2.TritonProgram:
    """A kernel with two arguments."""
    return program("def k(a, n):\n    pass\n", "k", NAMES)


def good() -> plan_pb2.Image:
    """As the compiler leaves it."""
    image = plan_pb2.Image(target="gfx942", symbol="k", block_threads=256)
    image.resources.wave_size = 64
    image.layout.add(offset=0, size=8)
    image.layout.add(offset=8, size=4)
    image.layout.add(offset=16, size=8, hidden=True)
    return image


def head(*, machine: int = 224, flags: int = 0x54C) -> bytes:
    """The head of an ELF file."""
    return struct.pack("<4sBB10xHHIQQQI", b"\x7fELF", 2, 1, 3, machine, 1, 0, 0, 0, flags).ljust(64, b"\0")


def problem(image: plan_pb2.Image, data: bytes) -> str:
    """What is said of it."""
    return images.problem(made(), made().variants[0], image, data, "gfx942")


def test_image_that_fits() -> None:
    """Nothing is wrong with it."""
    assert not problem(good(), head())


@pytest.mark.parametrize(
    "data", [b"", b"\x7fELF", bytes(64), head(machine=62), head(flags=0x53F), head(flags=0), head()[:63]]
)
def test_other_files_are_no_code_objects(data: bytes) -> None:
    """Too short, for a CPU, for another GPU."""
    assert problem(good(), data) == "it is not one for that target"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda i: setattr(i, "target", "gfx950"), "it holds 'k' for 'gfx950'"),
        (lambda i: setattr(i, "symbol", "other"), "it holds 'other' for 'gfx942'"),
        (
            lambda i: setattr(i.layout[1], "offset", 12),
            "its arguments lie at [(0, 8), (12, 4)], not at [(0, 8), ",
        ),
        (lambda i: setattr(i.layout[1], "hidden", True), "its arguments lie at [(0, 8)], not at [(0, 8), (8, 4)]"),
        (lambda i: i.layout.add(offset=24, size=8), "its arguments lie at [(0, 8), (8, 4), (24, 8)], not at"),
        (lambda i: setattr(i, "block_threads", 0), "it has 0 threads in waves of 64"),
        (lambda i: setattr(i, "block_threads", 2048), "it has 2048 threads in waves of 64"),
        (lambda i: setattr(i, "block_threads", 100), "it has 100 threads in waves of 64"),
        (lambda i: setattr(i.resources, "wave_size", 32), "it has 256 threads in waves of 32"),
    ],
)
def test_image_that_does_not_fit(change: Callable[[Any], object], expected: str) -> None:
    """The difference is told."""
    image = good()
    change(image)
    assert problem(image, head()).startswith(expected)


def test_output_is_bounded() -> None:
    """The passes print whole modules; causes stand at the start, what LLVM says last at the end."""
    said = b"k.py:3:4: error: first\n" + b"x" * (1 << 20) + b"\nLLVM ERROR: last\n"
    build = complaints.of_crash("k.py", 1, complaints.output(said), "exit code 1")
    assert [(d.line, d.column, d.message) for d in build.diagnostics] == [
        (3, 5, "first"),
        (1, 1, "last"),
        (1, 1, "Triton's compiler gave up on this kernel (exit code 1)"),
    ]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            'python: /project/MFMA.cpp:516: f() const: Assertion `x && "why"\' failed.\n',
            'Assertion `x && "why"\' failed',
        ),
        ("", "Triton's pass ConvertIt failed on this kernel"),
        ("k.py:4:1: error: cause\n", "cause"),
    ],
)
def test_failed_pass(said: str, expected: str) -> None:
    """The cause if there is one, otherwise the pass."""
    said += "k.py:1:0: error: Failures have been detected while processing an MLIR pass pipeline\n"
    said += "k.py:1:0: note: Pipeline failed while executing [`ConvertIt` on 'builtin.module' operation]: x\n"
    first, *_ = complaints.of_crash("k.py", 1, said, "x").diagnostics
    assert first.message == expected


def test_many_errors_are_bounded() -> None:
    """A model reads them."""
    said = "".join(f"k.py:{i}:1: error: number {i} {'x' * 5000}\n" for i in range(1000))
    build = complaints.of_crash("k.py", 1, said, "killed by SIGABRT")
    assert len(build.diagnostics) == 20
    assert max(len(d.message) for d in build.diagnostics) == complaints.MAX_MESSAGE_CHARACTERS


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("NameError(\"x is not defined\")", "NameError: x is not defined"),
        ("LLD failed on /var/tmp/ab/.triton-abc_1/cache/tmp1 because", "LLD failed on cache/tmp1 because"),
        ("in /opt/venv/lib/python3.11/site-packages/triton/x.py", "in triton/x.py"),
        ("<function f at 0x7f00aa>", "<function f>"),
        ("no '/etc/passwd'", "no '/etc/passwd'"),
    ],
)  # fmt: skip
def test_messages_tell_nothing_of_this_machine(message: str, expected: str) -> None:
    """Its folders and addresses would differ from run to run."""
    build = complaints.of_crash("k.py", 1, f"error: {message}", "x")
    assert build.diagnostics[0].message == expected
    assert build.diagnostics[0].level == compiler_pb2.Diagnostic.ERROR
