#include <hip/hip_runtime.h>
#include <torch/extension.h>

struct WelfordData {
    float mean, m2, count;
    __device__ void add(float x) {
        count += 1.f;
        const float delta = x - mean;
        mean += delta / count;
        m2 += delta * (x - mean);
    }
    __device__ void merge(const WelfordData& o) {
        const float n = count + o.count;
        if (n == 0.f) return;
        const float delta = o.mean - mean, w = o.count / n;
        mean += delta * w;
        m2 += o.m2 + delta * delta * count * w;
        count = n;
    }
};

template <typename T>
__global__ void layer_norm_kernel(const T* __restrict__ x, const T* __restrict__ gamma, const T* __restrict__ beta,
                                  T* __restrict__ y, int width, float eps) {
    __shared__ WelfordData shared[4];
    const T* row = x + int64_t(blockIdx.x) * width;
    WelfordData w{0.f, 0.f, 0.f};
    for (int i = threadIdx.x; i < width; i += blockDim.x) w.add(static_cast<float>(row[i]));
    for (int offset = warpSize / 2; offset > 0; offset /= 2) {
        WelfordData o;
        o.mean = __shfl_down(w.mean, offset);
        o.m2 = __shfl_down(w.m2, offset);
        o.count = __shfl_down(w.count, offset);
        w.merge(o);
    }
    if (threadIdx.x % warpSize == 0) shared[threadIdx.x / warpSize] = w;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < blockDim.x / warpSize; i++) w.merge(shared[i]);
        shared[0] = w;
    }
    __syncthreads();
    const float mean = shared[0].mean, rstd = rsqrtf(shared[0].m2 / width + eps);
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        const float v = (static_cast<float>(row[i]) - mean) * rstd;
        y[int64_t(blockIdx.x) * width + i] = static_cast<T>(v * static_cast<float>(gamma[i]) + static_cast<float>(beta[i]));
    }
}

torch::Tensor layer_norm(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, int64_t width) {
    auto in = x.contiguous();
    auto out = torch::empty_like(in);
    const int rows = in.numel() / width;
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, in.scalar_type(), "layer_norm", [&] {
        hipLaunchKernelGGL((layer_norm_kernel<scalar_t>), dim3(rows), dim3(256), 0, 0, in.data_ptr<scalar_t>(),
                           weight.data_ptr<scalar_t>(), bias.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), width, 1e-5f);
    });
    return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &layer_norm, "layer norm"); }
