"""Host code becomes a launch plan: torch extensions, on the shadow headers, with the real compiler and recorder."""

from __future__ import annotations

import struct
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from kernelvault.sandbox import Sandbox
from kernelvault.v1 import compiler_pb2, kernel_pb2
from svc_compiler.hip.toolchain import Toolchain
from tests.recording import EXTENSION, PREFIX, RUNTIME, TORCH, Recordings, kinds, pointers, tensor, verdict

pytestmark = pytest.mark.asyncio(loop_scope="module")
Finding = compiler_pb2.Finding
EXTENSIONS = Path(__file__).parents[1] / "programs" / "extensions"
SCALE = (
    EXTENSION
    + RUNTIME
    + """
template <typename scalar_t>
__global__ void scale(const scalar_t* x, scalar_t* y, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * scalar_t(2.0f);
}
static torch::Tensor scaled(torch::Tensor x) {
    auto y = torch::empty_like(x);
    AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::Half, at::ScalarType::BFloat16, x.scalar_type(), "scale", [&] {
        scale<scalar_t><<<1, 64>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), x.numel());
    });
    return y;
}
"""
)


def module(function: str, before: str = SCALE) -> str:
    """A source whose `forward` is the given function."""
    return before + function + '\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }\n'


def one(*dims: int, dtype: str = "float32", strides: tuple[int, ...] = ()) -> kernel_pb2.Case:
    """A case with one tensor, `x`."""
    return kernel_pb2.Case(
        id="one", parameters=[tensor("x", dims, dtype, strides)], outputs=[tensor("out", dims, dtype)]
    )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def recordings(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Recordings]:
    """One sandbox and one tool chain for all tests of the module."""
    sandbox = await Sandbox.start(preload=["svc_compiler.hip.record_child"])
    toolchain = Toolchain.find(PREFIX, tmp_path_factory.mktemp("cache"))
    yield Recordings(sandbox, toolchain, tmp_path_factory.mktemp("sources"))
    await sandbox.close()


@pytest.mark.parametrize(
    ("dtype", "mark"), [("float32", "f"), ("float16", "N3c104HalfE"), ("bfloat16", "N3c108BFloat16E")]
)
async def test_dispatch(recordings: Recordings, dtype: str, mark: str) -> None:
    """The dtype of the case chooses the kernel; the result is a new buffer."""
    plan = await recordings.plan(
        module("torch::Tensor forward(torch::Tensor x) { return scaled(x); }"), one(8, 8, dtype=dtype), TORCH
    )
    [kernel] = plan.kernels
    assert kernel.name.startswith(f"_Z5scaleI{mark}EvPKT_")
    assert pointers(plan) == [(0, "x", 0), (8, "scratch 1", 0)]
    [result] = plan.results
    assert (plan.buffers[result.buffer].name, list(result.view.dims)) == ("scratch 1", [8, 8])
    assert not plan.returns_sequence


async def test_a_dtype_that_is_not_dispatched(recordings: Recordings) -> None:
    """libtorch's own message tells what is missing."""
    source = module("torch::Tensor forward(torch::Tensor x) { return scaled(x); }")
    refused = await recordings.refusal(source, one(8, dtype="int32"), TORCH)
    assert verdict(refused) == "CRASHED"
    assert refused.explanation == "Host code threw an exception: \"scale\" not implemented for 'Int'"


async def test_strided_inputs_and_contiguous(recordings: Recordings) -> None:
    """A strided input keeps its strides; `contiguous` is a conversion into scratch."""
    source = module("""torch::Tensor forward(torch::Tensor x) {
        TORCH_CHECK(x.stride(0) == 1 && !x.is_contiguous());
        return scaled(x.contiguous());
    }""")
    plan = await recordings.plan(source, one(4, 6, strides=(1, 4)), TORCH)
    assert kinds(plan) == ["convert", "launch"]
    convert = plan.operations[0].convert
    assert (list(convert.source_view.strides), list(convert.destination_view.strides)) == ([1, 4], [6, 1])
    assert pointers(plan, 1)[0][1] == "scratch 1"


async def test_fills_views_and_copies(recordings: Recordings) -> None:
    """Fills, views, conversions and copies are operations; a returned tuple is a sequence."""
    source = module("""std::tuple<torch::Tensor, torch::Tensor> forward(torch::Tensor x) {
        auto zeros = torch::zeros({4, 6}, x.options());
        auto full = torch::full({3}, 1.5, x.options().dtype(torch::kFloat16));
        auto half = x.to(torch::kHalf);
        zeros.copy_(x);
        auto part = x.narrow(1, 2, 3).transpose(0, 1).slice(0, 1);
        auto rows = x.view({-1, 2}).select(0, 3).unsqueeze(0);
        TORCH_CHECK(full.numel() == 3 && half.dtype() == torch::kFloat16 && rows.size(1) == 2);
        scale<float><<<1, 64>>>(rows.data_ptr<float>(), zeros.mutable_data_ptr<float>(), 2);
        return {part, zeros.reshape({24})};
    }""")
    plan = await recordings.plan(source, one(4, 6), TORCH)
    assert kinds(plan) == ["fill", "fill", "convert", "copy", "launch"]
    assert (plan.operations[0].fill.pattern, plan.operations[0].fill.size_bytes) == (bytes(4), 96)
    assert plan.operations[1].fill.pattern == struct.pack("<e", 1.5)
    assert plan.operations[2].convert.destination_view.dtype == "float16"
    assert pointers(plan, 4)[0] == (0, "x", 24)
    assert plan.returns_sequence
    part, flat = plan.results
    assert plan.buffers[part.buffer].name == "x"
    assert (list(part.view.dims), list(part.view.strides), part.view.offset_elements) == ([2, 4], [1, 6], 3)
    assert list(flat.view.dims) == [24]


async def test_scalars_defaults_and_optional_tensors(recordings: Recordings) -> None:
    """Arguments are converted as pybind11 does: numbers, defaults, optional tensors, lambdas."""
    case = one(8)
    case.parameters.add(name="count", int_value=3)
    case.parameters.add(name="eps", float_value=0.25)
    source = (
        SCALE
        + """
    PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
        m.def("forward", [](torch::Tensor x, int count, float eps, c10::optional<torch::Tensor> bias, bool flag) {
            TORCH_CHECK(count == 3 && eps == 0.25f && !bias.has_value() && flag, "wrong arguments");
            return std::vector<torch::Tensor>{scaled(x)};
        }, "doc", py::arg("x"), py::arg("count"), py::arg("eps"), py::arg("bias") = py::none(), py::arg("flag") = true);
    }"""
    )
    plan = await recordings.plan(source, case, TORCH)
    assert kinds(plan) == ["launch"]
    assert plan.returns_sequence


async def test_checks_that_fail(recordings: Recordings) -> None:
    """The message of TORCH_CHECK reaches the report."""
    source = module(
        'torch::Tensor forward(torch::Tensor x) { TORCH_CHECK(x.dim() == 3, "3-D, got ", x.sizes()); return x; }'
    )
    refused = await recordings.refusal(source, one(4, 6), TORCH)
    assert verdict(refused) == "CRASHED"
    assert refused.explanation.startswith("Host code threw an exception: 3-D, got [4, 6] (at main.hip:")


@pytest.mark.parametrize(
    ("expression", "operator"),
    [
        ("torch::matmul(x, x.t())", "matmul"),
        ("x + 1", "add"),
        ("x.sum({1}, true)", "sum"),
        ("std::get<0>(x.max(1))", "max"),
        ("torch::cat({x, x}, 0)", "cat"),
        ("at::softmax(x, -1)", "softmax"),
        ("x.mul_(2.0)", "mul_"),
        ("torch::nn::functional::relu(x)", "relu"),
    ],
)
async def test_torch_operators_are_named(recordings: Recordings, expression: str, operator: str) -> None:
    """A tensor computation outside a kernel is rejected by its name, even if the candidate catches what it throws."""
    source = module(f"""torch::Tensor forward(torch::Tensor x) {{
        try {{ return {expression}; }} catch (const std::exception&) {{ }}
        return scaled(x);
    }}""")
    refused = await recordings.refusal(source, one(4, 6), TORCH)
    assert verdict(refused) == "REJECTED"
    assert [(f.kind, f.message) for f in refused.findings] == [
        (Finding.FOREIGN_OPERATOR, f"`{operator}` computes outside a kernel")
    ]


async def test_an_allowed_operator_needs_a_device(recordings: Recordings) -> None:
    """What the task allows is no offence, and no plan can hold it."""
    source = module("torch::Tensor forward(torch::Tensor x) { return torch::relu(x); }")
    refused = await recordings.refusal(source, one(4), TORCH, allowed_operators=["relu"])
    assert verdict(refused) == "NEEDS_DEVICE"


async def test_results_that_are_no_tensor_on_the_gpu(recordings: Recordings) -> None:
    """A tensor on the CPU, a number or nothing is a mismatch, and is told."""
    for function, what in (
        ("torch::Tensor forward(torch::Tensor x) { return torch::empty({4}); }", "a tensor on the CPU"),
        ("double forward(torch::Tensor x) { return 1.0; }", "float"),
        ("void forward(torch::Tensor x) {}", "nothing"),
    ):
        refused = await recordings.refusal(module(function), one(4), TORCH)
        assert verdict(refused) == "MISMATCHED"
        assert refused.explanation == f"The function returns {what}; tensors on the GPU are expected."


async def test_a_missing_function(recordings: Recordings) -> None:
    """The report tells what the module defines instead."""
    source = module("torch::Tensor forward(torch::Tensor x) { return scaled(x); }")
    refused = await recordings.refusal(source, one(4), TORCH, entry_point="backward")
    assert verdict(refused) == "COMPILE_FAILED"
    assert refused.explanation == (
        'PYBIND11_MODULE does not define "backward": it defines forward. Add m.def("backward", &backward);'
    )


async def test_wrong_arguments(recordings: Recordings) -> None:
    """A function with other parameters than the call has is told so."""
    source = module("torch::Tensor forward(torch::Tensor x, torch::Tensor y) { return scaled(x); }")
    refused = await recordings.refusal(source, one(4), TORCH)
    assert refused.explanation == (
        "Host code threw an exception: forward(): incompatible function arguments: it is given (Tensor) and takes "
        "2 parameters"
    )


async def test_temporaries_that_die_before_the_launch(recordings: Recordings) -> None:
    """A pointer into a temporary tensor is used after free; the report says what to do."""
    source = module("""torch::Tensor forward(torch::Tensor x) {
        const float* p = x.contiguous().data_ptr<float>();
        auto y = torch::empty_like(x);
        scale<float><<<1, 64>>>(p, y.data_ptr<float>(), x.numel());
        return y;
    }""")
    refused = await recordings.refusal(source, one(4, 6, strides=(1, 4)), TORCH)
    assert verdict(refused) == "UNSAFE"
    assert "keep the tensor that owns it in a variable" in refused.explanation


async def test_values_of_device_tensors(recordings: Recordings) -> None:
    """`item` reads the device: the plan holds for these inputs only."""
    source = module("""torch::Tensor forward(torch::Tensor x) {
        if (x.select(0, 0).item<float>() > 1e30f) return x;
        return scaled(x);
    }""")
    plan = await recordings.plan(source, one(4), TORCH)
    assert plan.data_dependent
    assert "host code reads device memory (Tensor::item)" in plan.limitations


def case_of(dtype: str, parameters: list[tuple[str, list[int]]], output: list[int]) -> kernel_pb2.Case:
    """A case of contiguous tensors."""
    return kernel_pb2.Case(
        id=dtype,
        parameters=[tensor(name, dims, dtype) for name, dims in parameters],
        outputs=[tensor("out", output, dtype)],
    )


@pytest.mark.parametrize("dtype", ["float32", "float16"])
async def test_extensions_as_models_write_them(recordings: Recordings, dtype: str) -> None:
    """Checks, dispatch, guards, accessors, streams, CUDA's names: whole extensions are recorded as they stand."""
    layer_norm = case_of(dtype, [("x", [4, 6, 96]), ("gamma", [96]), ("beta", [96])], [4, 6, 96])
    layer_norm.parameters.add(name="eps", float_value=1e-5)
    for name, case, operations in (
        ("layer_norm", layer_norm, ["launch"]),
        ("softmax", case_of(dtype, [("x", [2, 3, 100])], [2, 3, 100]), ["launch"]),
        ("matmul", case_of(dtype, [("a", [33, 20]), ("b", [20, 17])], [33, 17]), ["fill", "launch"]),
    ):
        plan = await recordings.plan((EXTENSIONS / f"{name}.hip").read_text(), case, TORCH)
        assert kinds(plan) == operations
        assert [list(result.view.dims) for result in plan.results] == [list(case.outputs[0].tensor.dims)]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
async def test_a_tour_of_the_api(recordings: Recordings, dtype: str) -> None:
    """Sizes, views, options, numbers, streams and the 16-bit types in device code behave as libtorch's do."""
    plan = await recordings.plan((EXTENSIONS / "tour.hip").read_text(), one(2, 3, 4, dtype=dtype), TORCH)
    assert not plan.data_dependent
    assert len(plan.results) == 5
    assert kinds(plan).count("launch") == 2


async def test_lists_of_dtypes(recordings: Recordings) -> None:
    """AT_DISPATCH_V2 takes lists of dtypes; the older forms take up to seven more, complex ones left out."""
    launch = "scale<scalar_t><<<1, 64>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), x.numel());"
    body = f"""torch::Tensor forward(torch::Tensor x) {{
        auto y = torch::empty_like(x);
        AT_DISPATCH_V2(x.scalar_type(), "v2", AT_WRAP([&] {{ {launch} }}), AT_EXPAND(AT_FLOATING_TYPES), at::kHalf);
        AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND1(at::kHalf, x.scalar_type(), "complex", [&] {{ {launch} }});
        AT_DISPATCH_ALL_TYPES_AND4(at::kHalf, at::kBool, at::kUInt16, at::kUInt32, x.scalar_type(), "four", [&] {{
            {launch}
        }});
        return y;
    }}"""
    plan = await recordings.plan(module("#include <ATen/Dispatch_v2.h>\n" + body), one(8, dtype="float16"), TORCH)
    assert kinds(plan) == ["launch"] * 3
    assert len(plan.kernels) == 1


async def test_bindings(recordings: Recordings) -> None:
    """Overloads are chosen by their parameters; wrappers of functions are the functions."""
    source = (
        SCALE
        + """
torch::Tensor forward(torch::Tensor x, int64_t) { return x; }
torch::Tensor forward(torch::Tensor x) { return scaled(x); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", py::overload_cast<torch::Tensor, int64_t>(&forward));
    m.def("forward", torch::wrap_pybind_function(py::overload_cast<torch::Tensor>(&forward)), "one tensor");
}
"""
    )
    assert kinds(await recordings.plan(source, one(8), TORCH)) == ["launch"]


async def test_operators_of_the_dispatcher(recordings: Recordings) -> None:
    """An operator that libtorch's dispatcher would call is named."""
    source = module(
        "torch::Tensor forward(torch::Tensor x) { return scaled(x); }\n"
        'TORCH_LIBRARY(mine, m) { m.def("scaled(Tensor x) -> Tensor"); m.impl("scaled", &forward); }'
    )
    refused = await recordings.refusal(source, one(8), TORCH)
    assert verdict(refused) == "NEEDS_DEVICE"
    assert "TORCH_LIBRARY(mine)" in refused.explanation
