#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <hip/hip_runtime.h>
#include <vector>

#define CHECK_CUDA(x) TORCH_CHECK(x.is_cuda(), #x " must be a CUDA tensor")
#define CHECK_CONTIGUOUS(x) TORCH_CHECK(x.is_contiguous(), #x " must be contiguous")
#define CHECK_INPUT(x) \
    CHECK_CUDA(x);     \
    CHECK_CONTIGUOUS(x)

constexpr int kWarpSize = 64;

template <typename T>
__device__ __forceinline__ T warpReduceSum(T val) {
#pragma unroll
    for (int offset = kWarpSize / 2; offset > 0; offset >>= 1) val += __shfl_down(val, offset);
    return val;
}

template <typename T>
__device__ T blockReduceSum(T val, T* shared) {
    const int lane = threadIdx.x % kWarpSize, wid = threadIdx.x / kWarpSize;
    val = warpReduceSum(val);
    if (lane == 0) shared[wid] = val;
    __syncthreads();
    val = threadIdx.x < blockDim.x / kWarpSize ? shared[lane] : T(0);
    if (wid == 0) val = warpReduceSum(val);
    if (threadIdx.x == 0) shared[0] = val;
    __syncthreads();
    return shared[0];
}

template <typename scalar_t, typename acc_t = at::acc_type<scalar_t, true>>
__global__ void __launch_bounds__(256) layer_norm_kernel(const scalar_t* __restrict__ input, const scalar_t* __restrict__ gamma,
                                                         const scalar_t* __restrict__ beta, scalar_t* __restrict__ output,
                                                         const int hidden, const acc_t eps) {
    __shared__ acc_t sums[kWarpSize];
    __shared__ acc_t squares[kWarpSize];
    const int64_t row = blockIdx.x;
    acc_t sum = 0, square = 0;
    for (int i = threadIdx.x; i < hidden; i += blockDim.x) {
        const acc_t v = static_cast<acc_t>(input[row * hidden + i]);
        sum += v;
        square += v * v;
    }
    const acc_t mean = blockReduceSum(sum, sums) / hidden;
    const acc_t variance = blockReduceSum(square, squares) / hidden - mean * mean;
    const acc_t rstd = rsqrt(variance + eps);
    for (int i = threadIdx.x; i < hidden; i += blockDim.x) {
        const acc_t v = (static_cast<acc_t>(input[row * hidden + i]) - mean) * rstd;
        output[row * hidden + i] = static_cast<scalar_t>(v * static_cast<acc_t>(gamma[i]) + static_cast<acc_t>(beta[i]));
    }
}

torch::Tensor forward(torch::Tensor input, torch::Tensor gamma, torch::Tensor beta, double eps) {
    CHECK_INPUT(input);
    CHECK_INPUT(gamma);
    CHECK_INPUT(beta);
    TORCH_CHECK(input.dim() >= 2, "expected at least 2 dimensions, got ", input.dim());
    TORCH_CHECK(gamma.size(0) == input.size(-1), "gamma has size ", gamma.sizes(), " for input of size ", input.sizes());
    TORCH_CHECK(input.scalar_type() == gamma.scalar_type() && gamma.dtype() == beta.dtype());
    const at::cuda::OptionalCUDAGuard device_guard(device_of(input));

    auto output = torch::empty_like(input);
    const int hidden = input.size(-1);
    const int64_t rows = input.numel() / hidden;
    if (rows == 0) return output;
    auto stream = at::cuda::getCurrentCUDAStream().stream();
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, input.scalar_type(), "layer_norm_forward", ([&] {
        using acc_t = at::acc_type<scalar_t, true>;
        layer_norm_kernel<scalar_t><<<rows, 256, 0, stream>>>(
            input.data_ptr<scalar_t>(), gamma.data_ptr<scalar_t>(), beta.data_ptr<scalar_t>(),
            output.data_ptr<scalar_t>(), hidden, static_cast<acc_t>(eps));
    }));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return output;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "LayerNorm forward (HIP)", py::arg("input"), py::arg("gamma"), py::arg("beta"),
          py::arg("eps") = 1e-5);
}
