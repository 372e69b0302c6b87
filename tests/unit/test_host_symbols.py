"""What host code lacks has a name and an owner."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from kernelvault.v1 import compiler_pb2
from svc_compiler.hip import host_symbols
from svc_compiler.hip.toolchain import SHADOW_HEADERS
from svc_compiler.refusal import Verdict

Diagnostic = compiler_pb2.Diagnostic


def libtorch() -> Path:
    """The headers of the installed libtorch."""
    spec = importlib.util.find_spec("torch")
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0]) / "include"


@pytest.mark.parametrize(
    ("symbols", "verdict", "explanation"),
    [
        (
            ["hipGraphCreate", "hipGraphLaunch"],
            Verdict.NEEDS_DEVICE,
            "The host code calls `hipGraphCreate`, `hipGraphLaunch`, which kernelvault does not record.",
        ),
        (
            ["at::matmul(at::Tensor const&, at::Tensor const&)"],
            Verdict.REJECTED,
            "The candidate leaves `at::matmul` to a library: every tensor computation must be in a kernel of its own.",
        ),
        (
            ["rocblas_sgemm", "hipMalloc3D"],
            Verdict.REJECTED,
            "The candidate leaves `rocblas_sgemm` to a library: every tensor computation must be in a kernel of "
            "its own.",
        ),
        (["helper(int)"], Verdict.COMPILE_FAILED, "The host code does not link: undefined `helper(int)`"),
    ],
)
def test_undefined_symbols(symbols: list[str], verdict: Verdict, explanation: str) -> None:
    """HIP's need a device, a library's operators are foreign, the candidate's own do not link."""
    refused = host_symbols.refusal(symbols, [])
    assert (refused.verdict, refused.explanation) == (verdict, explanation)


def test_what_only_libtorch_has() -> None:
    """A name that libtorch knows is missing in the shadow headers; one that it does not know is the candidate's."""
    messages = [
        "no member named 'cdist_forward_made_up' in namespace 'at'",
        "no member named 'sparse_mask' in 'at::Tensor'",
        "'ATen/native/cuda/Loops.cuh' file not found",
        "'ATen/made_up.h' file not found",
        "use of undeclared identifier 'x'",
        "'hipcub/hipcub.hpp' file not found",
        "'cub/cub.cuh' file not found",
    ]
    found = [Diagnostic(level=Diagnostic.ERROR, message=message) for message in messages]
    assert host_symbols.missing_api(found) == [
        "`at::Tensor::sparse_mask`",
        "<ATen/native/cuda/Loops.cuh>",
        "<hipcub/hipcub.hpp>",
    ]


@pytest.mark.parametrize("name", ["functions", "methods"])
def test_foreign_operators_are_libtorchs(name: str) -> None:
    """Each name in the lists is an operator of the installed libtorch."""
    text = (SHADOW_HEADERS / "kernelvault" / f"foreign_{name}.inc").read_text()
    names = re.findall(r"^KERNELVAULT_OPERATOR\(\w+, (\w+)\)$", text, re.MULTILINE)
    body = (libtorch() / "ATen" / "core" / "TensorBody.h").read_text()
    there = {path.stem for path in (libtorch() / "ATen" / "ops").glob("*.h")}
    unknown = [
        one for one in names if not {one, one.removesuffix("_out"), one.rstrip("_")} & there and f" {one}(" not in body
    ]
    assert not unknown
    assert len(names) == len(set(names)) > 300


def test_the_operators_that_models_call_are_listed() -> None:
    """The operators that generated code falls back to are named, not unknown."""
    text = (SHADOW_HEADERS / "kernelvault" / "foreign_functions.inc").read_text()
    called = ["matmul", "mm", "bmm", "conv2d", "linear", "softmax", "layer_norm", "relu", "gelu", "sum", "mean", "cat"]
    for name in [*called, "stack", "topk", "sort", "where", "addmm"]:
        assert f", {name})" in text, name


@pytest.mark.parametrize(
    ("message", "verdict", "name"),
    [
        ("'rocblas/rocblas.h' file not found", Verdict.REJECTED, "<rocblas/rocblas.h>"),
        ("'cublas_v2.h' file not found", Verdict.REJECTED, "<cublas_v2.h>"),
        ("'ATen/cuda/CUDABlas.h' file not found", Verdict.REJECTED, "<ATen/cuda/CUDABlas.h>"),
        (
            "no member named 'getCurrentCUDABlasHandle' in namespace 'at::cuda'",
            Verdict.REJECTED,
            "at::cuda::getCurrentCUDABlasHandle",
        ),
        ("no member named 'class_' in namespace 'pybind11'", Verdict.NEEDS_DEVICE, "pybind11::class_"),
        ("no member named 'Linear' in namespace 'torch::nn'", Verdict.NEEDS_DEVICE, "torch::nn::Linear"),
        (
            "no member named 'CUDACachingAllocator' in namespace 'c10::cuda'",
            Verdict.NEEDS_DEVICE,
            "c10::cuda::CUDACachingAllocator",
        ),
    ],
)
def test_what_a_failed_compile_lacks(message: str, verdict: Verdict, name: str) -> None:
    """A library that computes is foreign, other parts of libtorch need a device; both are named."""
    refused = host_symbols.lacking([Diagnostic(level=Diagnostic.ERROR, message=message)])
    assert refused is not None
    assert refused.verdict == verdict
    assert f"`{name}`" in refused.explanation


@pytest.mark.parametrize(
    "message", ["no member named 'half' in 'at::Tensor'", "no member named 'made_up' in namespace 'at::cuda'"]
)
def test_what_nobody_has(message: str) -> None:
    """A name that libtorch does not have either is the candidate's fault."""
    assert host_symbols.lacking([Diagnostic(level=Diagnostic.ERROR, message=message)]) is None
