// torch's batch norm with the statistics that training left.
#include <hip/hip_runtime.h>
#include <torch/extension.h>

__global__ void batch_norm_kernel(const float* __restrict__ x, const float* __restrict__ weight,
                                  const float* __restrict__ bias, const float* __restrict__ mean,
                                  const float* __restrict__ var, float* __restrict__ y, int channels, int area,
                                  int64_t total, float eps) {
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i >= total) return;
    const int c = (i / area) % channels;
    const float scale = weight[c] * rsqrtf(var[c] + eps);
    y[i] = (x[i] - mean[c]) * scale + bias[c];
}

torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, torch::Tensor running_mean,
                      torch::Tensor running_var, torch::Tensor num_batches_tracked, int64_t channels) {
    auto in = x.contiguous();
    auto out = torch::empty_like(in);
    const int64_t total = in.numel();
    const int threads = 256;
    const int blocks = (total + threads - 1) / threads;
    batch_norm_kernel<<<blocks, threads>>>(in.data_ptr<float>(), weight.data_ptr<float>(), bias.data_ptr<float>(),
                                           running_mean.data_ptr<float>(), running_var.data_ptr<float>(),
                                           out.data_ptr<float>(), channels, in.size(2) * in.size(3), total, 1e-5f);
    return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "torch's batch norm with the statistics that training left"); }
