"""The forms of Python modules that build HIP kernels: how extensions are loaded, what they are given and return."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelvault.v1 import compiler_pb2, kernel_pb2
from tests.compiler import Compiler
from tests.hip_module import ADD, SOURCE, said, verify

Report = compiler_pb2.VerificationReport
pytestmark = pytest.mark.timeout(300)
EXAMPLES = Path(__file__).parents[2] / "examples"

LINEAR = """
import torch

class Model(torch.nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = torch.nn.Linear(features, 4)
        self.register_buffer("shift", torch.ones(4))

    def forward(self, x):
        return self.linear(x) + self.shift, x * 2

def get_inputs(rows=5):
    return [torch.randn(rows, 16)]

def get_init_inputs():
    return [16]

def get_cases():
    return [{"id": "few", "rows": 3}, {"id": "more", "rows": 17}]
"""
MODEL = """
import torch
import torch.utils.cpp_extension as ext

TEXT = '''
#include <torch/extension.h>
#include <vector>
#define WIDTH 64
static __device__ float twice(float x) { return 2 * x; }
__global__ void run(const float* x, const float* w, const float* b, const float* s, float* y,
                    int rows, int in, int out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * out) return;
    float sum = b ? b[i % out] : 0;
    for (int k = 0; k < in; k++) sum += x[i / out * in + k] * w[i % out * in + k];
    y[i] = sum + s[i % out] * SCALE;
}
static torch::Tensor linear(at::Tensor x, const torch::Tensor& w, c10::optional<torch::Tensor> b, torch::Tensor s,
                            bool checked, double scale) {
    TORCH_CHECK(checked && x.is_cuda() && x.size(1) == w.size(1) && scale == 1.0, "what is given is wrong");
    auto y = torch::empty({x.size(0), w.size(0)}, x.options());
    const float* bias = b.has_value() ? b->data_ptr<float>() : nullptr;
    run<<<(y.numel() + 63) / 64, WIDTH>>>(x.data_ptr<float>(), w.data_ptr<float>(), bias, s.data_ptr<float>(),
                                       y.data_ptr<float>(), x.size(0), x.size(1), w.size(0));
    return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("linear", &linear, "linear", py::arg("x"), py::arg("w"), py::arg("b") = py::none(), py::arg("s"),
          py::arg("checked") = true, py::arg("scale") = 1.0);
}
'''
DOUBLE = r'''
#include "cuda_runtime.h"
#include <torch/extension.h>
constexpr int WIDTH = 64;
static __device__ float twice(float x) { return x + x; }
__global__ void run(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = twice(x[i]);
}
std::vector<torch::Tensor> doubled(const std::vector<torch::Tensor>& given, int n) {
    auto y = at::empty_like(given[0]);
    run<<<dim3((n + 63) / 64), dim3(WIDTH)>>>(given[0].data_ptr<float>(), y.data_ptr<float>(), n);
    return {y};
}
'''


class ModelNew(torch.nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = torch.nn.Linear(features, 4)
        self.register_buffer("shift", torch.ones(4))
        self.first = ext.load_inline("same", [TEXT], extra_cuda_cflags=["-D", "SCALE=1", "-O3", "--use_fast_math"])
        self.second = ext.load_inline(name="same", cpp_sources="", cuda_sources=[DOUBLE], functions={"doubled": "doc"})

    def forward(self, x):
        x = x.contiguous().view(-1, 16)
        y = self.first.linear(x, w=self.linear.weight, s=self.shift, b=self.linear.bias)
        try:
            self.first.linear(x)
        except TypeError as error:
            assert "incompatible function arguments" in str(error)
        [z] = self.second.doubled([x], x.numel())
        assert torch.arange(5).sum() == 10 and not hasattr(self.first, "doubled")
        return y, z
"""


@pytest.fixture
async def add(compiler: Compiler) -> kernel_pb2.Task:
    """The task of an addition."""
    return await compiler.prepare(ADD, "add")


async def test_extensions_with_parameters(compiler: Compiler) -> None:
    """Several extensions with equal names, made in `__init__`, get parameters, lists, options and keywords."""
    task = await compiler.prepare(LINEAR, "linear")
    report = await verify(compiler, task, MODEL)
    assert report.verdict == Report.PASSED, said(report)
    [plan] = [plan for plan in report.plans if plan.case_id == "few-normal"][:1] or list(report.plans)[:1]
    assert [kernel.display_name.partition("(")[0] for kernel in plan.kernels] == ["same_0::run", "same_1::run"]
    assert any("--use_fast_math" in note for note in report.notes)


@pytest.mark.parametrize("where", ["beside", "written", "written beside"])
async def test_load_of_files(compiler: Compiler, add: kernel_pb2.Task, where: str) -> None:
    """`load` compiles files that the candidate brings, with their headers, or that its module writes."""
    head, _, rest = SOURCE.partition("module = load_inline(")
    kernel = head.partition('r"""')[2].partition('"""')[0].replace("#include <hip", '#include "types.h"\n#include <hip')
    kernel = kernel.replace("float", "scalar")
    binding = "#include <torch/extension.h>\ntorch::Tensor add_hip(torch::Tensor a, torch::Tensor b);\n"
    binding += 'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("add_hip", &add_hip); }\n'
    class_ = "\n\n" + rest[rest.index("class ModelNew") :]
    if where == "beside":
        files = {"csrc/add.cpp": binding, "csrc/add.hip": kernel, "csrc/types.h": "using scalar = float;\n"}
        paths = '[os.path.join(os.path.dirname(__file__), "csrc", name) for name in ("add.cpp", "add.hip")]'
        before = "import os\n"
    else:
        files = {}
        folder = "tempfile.mkdtemp()" if where == "written" else "os.path.dirname(os.path.abspath(__file__))"
        before = f"import os, tempfile\nfolder = {folder}\npaths = [os.path.join(folder, 'a.hip')]\n"
        before += "os.makedirs(os.path.join(folder, 'build'), exist_ok=True)\n"
        text = kernel.replace('#include "types.h"', "using scalar = float;") + binding
        before += f"open(paths[0], 'w').write({text!r})\n"
        paths = "paths"
    source = "import torch\nfrom torch import nn\nfrom torch.utils.cpp_extension import load\n" + before
    source += f'module = load(name="add", sources={paths}, extra_include_paths=["csrc"])\n' + class_
    report = await verify(compiler, add, source, files)
    assert report.verdict == Report.PASSED, said(report)


async def test_example(compiler: Compiler) -> None:
    """The example in the documentation passes."""
    task = await compiler.prepare((EXAMPLES / "add.py").read_text(), "add")
    report = await verify(compiler, task, (EXAMPLES / "add_module.py").read_text())
    assert report.verdict == Report.PASSED, said(report)


async def test_values_of_other_kinds(compiler: Compiler, add: kernel_pb2.Task) -> None:
    """Dtypes, devices, sizes and numpy's numbers reach C++; a type that cannot be passed is named."""
    source = SOURCE.replace(
        "torch::Tensor b)",
        "torch::Tensor b, at::ScalarType dtype, torch::Device device, at::IntArrayRef sizes, float half, int64_t two)",
    ).replace("torch::empty_like(a)", "torch::empty(sizes, torch::TensorOptions().dtype(dtype).device(device))")
    source = source.replace("int n = a.numel();", "int n = a.numel(); TORCH_CHECK(half * two == 1);")
    source = source.replace("import os", "import os\nimport numpy as np")
    source = source.replace(
        "add_hip(a, b)\n", "add_hip(a, b, a.dtype, a.device, a.shape, np.float32(0.5), np.int64(2))\n"
    )
    report = await verify(compiler, add, source)
    assert report.verdict == Report.PASSED, said(report)
    report = await verify(compiler, add, SOURCE.replace("add_hip(a, b)\n", "add_hip(a, b.shape.numel)\n"))
    assert report.verdict == Report.NEEDS_DEVICE, said(report)
    assert "passes a builtin_function_or_method to a function of an extension" in report.explanation
    report = await verify(compiler, add, SOURCE.replace("torch::Tensor b)", "torch::Tensor b, std::pair<int, int> c)"))
    assert report.verdict == Report.NEEDS_DEVICE, said(report)
    assert "`std::pair<int, int>` in the signature of an exported function" in report.explanation
