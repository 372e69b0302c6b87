// The Gaussian error linear unit, in its exact form.
#include <hip/hip_runtime.h>
#include <torch/extension.h>

__device__ __forceinline__ float gelu(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678118654752f)); }

__global__ void gelu_kernel(const float* __restrict__ x, float* __restrict__ y, size_t n) {
    const size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
    const size_t first = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const size_t whole = n / 4;
    const float4* x4 = reinterpret_cast<const float4*>(x);
    float4* y4 = reinterpret_cast<float4*>(y);
    for (size_t i = first; i < whole; i += stride) {
        float4 v = x4[i];
        v.x = gelu(v.x);
        v.y = gelu(v.y);
        v.z = gelu(v.z);
        v.w = gelu(v.w);
        y4[i] = v;
    }
    for (size_t i = whole * 4 + first; i < n; i += stride) {
        y[i] = gelu(x[i]);
    }
}

torch::Tensor forward(torch::Tensor x) {
    auto input = x.contiguous();
    auto output = torch::empty_like(input);
    const size_t n = input.numel();
    const int threads = 256;
    const int blocks = std::min<size_t>((n + threads * 4 - 1) / (threads * 4), 1024);
    gelu_kernel<<<blocks, threads>>>(input.data_ptr<float>(), output.data_ptr<float>(), n);
    return output;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "The Gaussian error linear unit, in its exact form"); }
