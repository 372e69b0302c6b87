// One pass for the largest and the sum, merged over shuffles and LDS.
#include <ATen/Dispatch.h>
#include <c10/hip/HIPStream.h>
#include <hip/hip_runtime.h>
#include <torch/extension.h>

constexpr int kWarp = 64;

struct MD {
    float m, d;
};

__device__ __forceinline__ MD merge(MD a, MD b) {
    const bool bigger = a.m > b.m;
    const MD hi = bigger ? a : b, lo = bigger ? b : a;
    return {hi.m, hi.d + lo.d * __expf(lo.m - hi.m)};
}

template <typename scalar_t>
__global__ void __launch_bounds__(256) online_softmax(const scalar_t* __restrict__ x, scalar_t* __restrict__ y, int cols) {
    __shared__ MD warps[256 / kWarp];
    const int64_t base = static_cast<int64_t>(blockIdx.x) * cols;
    MD part{-1e30f, 0.f};
    for (int c = threadIdx.x; c < cols; c += blockDim.x) part = merge(part, MD{static_cast<float>(x[base + c]), 1.f});
#pragma unroll
    for (int offset = kWarp / 2; offset > 0; offset >>= 1) {
        MD other{__shfl_down(part.m, offset), __shfl_down(part.d, offset)};
        part = merge(part, other);
    }
    const int lane = threadIdx.x % kWarp, wid = threadIdx.x / kWarp;
    if (lane == 0) warps[wid] = part;
    __syncthreads();
    if (threadIdx.x == 0) {
        MD total = warps[0];
        for (int w = 1; w < static_cast<int>(blockDim.x) / kWarp; ++w) total = merge(total, warps[w]);
        warps[0] = total;
    }
    __syncthreads();
    const MD total = warps[0];
    const float inv = __fdividef(1.f, total.d);
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        y[base + c] = static_cast<scalar_t>(__expf(static_cast<float>(x[base + c]) - total.m) * inv);
}

torch::Tensor forward(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda(), "x must be on the GPU");
    x = x.contiguous();
    auto y = torch::empty_like(x);
    const int cols = x.size(-1);
    const int rows = x.numel() / cols;
    const auto stream = at::hip::getCurrentHIPStream();
    AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::Half, at::ScalarType::BFloat16, x.scalar_type(), "softmax", ([&] {
        online_softmax<scalar_t><<<rows, 256, 0, stream>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), cols);
    }));
    C10_HIP_KERNEL_LAUNCH_CHECK();
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "online softmax"); }
