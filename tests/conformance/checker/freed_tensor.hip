#include <torch/extension.h>

__global__ void twice(const float* x, float* scratch, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = scratch[i] = 2 * x[i];
}

torch::Tensor forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    const int n = x.numel();
    float* scratch = torch::empty({2 * n}, x.options()).data_ptr<float>();
    twice<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), scratch, y.data_ptr<float>(), n);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
