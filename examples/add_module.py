"""A candidate for add.py as KernelBench writes it: a `ModelNew` that builds its HIP kernel with `load_inline`."""

import torch
from torch.utils.cpp_extension import load_inline

source = r"""
#include <hip/hip_runtime.h>
#include <torch/extension.h>

__global__ void add_kernel(const float* a, const float* b, float* out, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}

torch::Tensor add(torch::Tensor a, torch::Tensor b) {
    a = a.contiguous();
    b = b.contiguous();
    auto out = torch::empty_like(a);
    int64_t n = out.numel();
    add_kernel<<<(n + 255) / 256, 256>>>(a.data_ptr<float>(), b.data_ptr<float>(), out.data_ptr<float>(), n);
    return out;
}
"""

extension = load_inline(
    name="add",
    cpp_sources="torch::Tensor add(torch::Tensor a, torch::Tensor b);",
    cuda_sources=source,
    functions=["add"],
)


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        return extension.add(a, b)
