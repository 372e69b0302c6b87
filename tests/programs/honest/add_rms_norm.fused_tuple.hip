#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>

#include <tuple>

template <typename scalar_t>
__global__ void fused_add_rms_norm_kernel(const scalar_t* __restrict__ x, const scalar_t* __restrict__ res,
                                          const scalar_t* __restrict__ weight, scalar_t* __restrict__ out,
                                          scalar_t* __restrict__ total, const float epsilon, const int hidden) {
    __shared__ float s_variance;
    __shared__ float warp_sums[32];
    float variance = 0.0f;
    const int64_t base = blockIdx.x * static_cast<int64_t>(hidden);
    for (int idx = threadIdx.x; idx < hidden; idx += blockDim.x) {
        const scalar_t z = x[base + idx] + res[base + idx];
        total[base + idx] = z;
        const float f = static_cast<float>(z);
        variance += f * f;
    }
    for (int mask = 32; mask > 0; mask >>= 1) variance += __shfl_xor(variance, mask);
    if ((threadIdx.x & 63) == 0) warp_sums[threadIdx.x >> 6] = variance;
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < (blockDim.x + 63) / 64; ++i) sum += warp_sums[i];
        s_variance = rsqrtf(sum / hidden + epsilon);
    }
    __syncthreads();
    for (int idx = threadIdx.x; idx < hidden; idx += blockDim.x) {
        const float f = static_cast<float>(total[base + idx]);
        out[base + idx] = static_cast<scalar_t>(f * s_variance * static_cast<float>(weight[idx]));
    }
}

std::tuple<at::Tensor, at::Tensor> forward(at::Tensor x, at::Tensor residual, at::Tensor weight, int64_t width, double eps) {
    const at::cuda::OptionalCUDAGuard device_guard(device_of(x));
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    x = x.contiguous();
    residual = residual.contiguous();
    int hidden = x.size(-1);
    int num_tokens = x.numel() / hidden;
    auto out = at::empty_like(x), total = at::empty_like(x);
    dim3 grid(num_tokens);
    dim3 block(std::min(hidden, 1024));
    AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::Half, at::ScalarType::BFloat16, x.scalar_type(), "fused_add_rms_norm", [&] {
        fused_add_rms_norm_kernel<scalar_t><<<grid, block, 0, stream>>>(
            x.data_ptr<scalar_t>(), residual.data_ptr<scalar_t>(), weight.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(),
            total.data_ptr<scalar_t>(), static_cast<float>(eps), hidden);
    });
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return {out, total};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
