#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/hip/HIPContext.h>
#include <c10/hip/HIPGuard.h>
#include <hip/hip_runtime.h>
#include <torch/extension.h>

#include <cfloat>

#define HIP_CHECK(expression)                                                                    \
    do {                                                                                         \
        hipError_t status = (expression);                                                        \
        if (status != hipSuccess) {                                                              \
            std::cerr << "HIP error " << status << ": " << hipGetErrorString(status) << std::endl; \
            std::exit(EXIT_FAILURE);                                                             \
        }                                                                                        \
    } while (0)

template <typename scalar_t>
__global__ void softmax_kernel(const torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> input,
                               torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> output) {
    extern __shared__ float shared[];
    const int row = blockIdx.x;
    float max_val = -FLT_MAX;
    for (int c = threadIdx.x; c < input.size(1); c += blockDim.x) max_val = fmaxf(max_val, static_cast<float>(input[row][c]));
    shared[threadIdx.x] = max_val;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) shared[threadIdx.x] = fmaxf(shared[threadIdx.x], shared[threadIdx.x + s]);
        __syncthreads();
    }
    max_val = shared[0];
    __syncthreads();
    float sum = 0.f;
    for (int c = threadIdx.x; c < input.size(1); c += blockDim.x) sum += expf(static_cast<float>(input[row][c]) - max_val);
    shared[threadIdx.x] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) shared[threadIdx.x] += shared[threadIdx.x + s];
        __syncthreads();
    }
    sum = shared[0];
    for (int c = threadIdx.x; c < input.size(1); c += blockDim.x)
        output[row][c] = static_cast<scalar_t>(expf(static_cast<float>(input[row][c]) - max_val) / sum);
}

at::Tensor forward(const at::Tensor& x) {
    TORCH_CHECK(x.device().is_cuda(), "input must reside on the device, found ", x.device());
    const c10::hip::OptionalHIPGuardMasqueradingAsCUDA guard(x.device());
    auto input = x.contiguous().view({-1, x.size(x.dim() - 1)});
    auto output = at::empty(input.sizes(), input.options().dtype(input.dtype()).device(x.device()));
    const int threads = std::max<int64_t>(64, input.size(1) > 64 ? 256 : 64);
    dim3 grid(static_cast<unsigned int>(input.size(0))), block(threads);
    hipStream_t stream = at::hip::getCurrentHIPStreamMasqueradingAsCUDA();
    AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "softmax", [&] {
        hipLaunchKernelGGL(HIP_KERNEL_NAME(softmax_kernel<scalar_t>), grid, block, threads * sizeof(float), stream,
                           input.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(),
                           output.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>());
    });
    HIP_CHECK(hipGetLastError());
    HIP_CHECK(hipDeviceSynchronize());
    return output.view_as(x);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "softmax"); }
