// Walks through the API of torch extensions that is recorded; checks itself, so that a wrong answer throws.
#include <torch/extension.h>
#include <ATen/AccumulateType.h>
#include <ATen/cuda/Atomic.cuh>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/Optional.h>
#include <c10/util/irange.h>
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

using torch::indexing::Ellipsis;
using torch::indexing::None;
using torch::indexing::Slice;

// Arithmetic of the 16-bit types in device code.
template <typename scalar_t>
__global__ void mixed(const scalar_t* x, scalar_t* y, float* total, int64_t n) {
    using opmath_t = at::opmath_type<scalar_t>;
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    scalar_t v = x[i];
    v = v * v + scalar_t(1) - v / scalar_t(2.0f);
    v += x[i];
    v *= 2;
    if (v > scalar_t(0) && -v <= v && v != std::numeric_limits<scalar_t>::infinity()) v = v * 0.5f;
    gpuAtomicAdd(total, static_cast<float>(static_cast<opmath_t>(v)));
    gpuAtomicAdd(&y[i], v);
}

__global__ void native(const __half* x, const __hip_bfloat16* y, float* out) {
    out[threadIdx.x] = __half2float(x[threadIdx.x]) + static_cast<float>(y[threadIdx.x]);
}

static void shapes(const torch::Tensor& x) {
    TORCH_CHECK(x.dim() == 3 && x.sizes() == torch::IntArrayRef({2, 3, 4}), "sizes ", x.sizes());
    TORCH_CHECK(x.sizes().vec() == std::vector<int64_t>({2, 3, 4}) && x.sizes()[1] == 3 && x.size(-1) == 4);
    TORCH_CHECK(x.permute({2, 0, 1}).strides() == torch::IntArrayRef({1, 12, 4}));
    TORCH_CHECK(x.transpose(0, 2).contiguous().is_contiguous() && !x.transpose(0, 2).is_contiguous());
    TORCH_CHECK(x.view({6, -1}).size(1) == 4 && x.reshape({-1}).numel() == 24 && x.flatten(1).size(1) == 12);
    TORCH_CHECK(x.unsqueeze(1).squeeze(1).sizes() == x.sizes() && x.unsqueeze(-1).squeeze().dim() == 3);
    TORCH_CHECK(x.select(0, 1).storage_offset() == 12 && x[1][2].dim() == 1 && x.narrow(1, 1, 2).size(1) == 2);
    TORCH_CHECK(x.expand({5, 2, 3, 4}).stride(0) == 0 && x[0].t().stride(0) == 1);
    TORCH_CHECK(x.chunk(2, 0).size() == 2 && x.split(2, 1)[1].size(1) == 1 && x.unbind(2).size() == 4);
    TORCH_CHECK(x.index({Slice(), Slice(None, 2), 3}).sizes() == torch::IntArrayRef({2, 2}));
    TORCH_CHECK(x.index({Ellipsis, 0, None}).sizes() == torch::IntArrayRef({2, 3, 1}));
    TORCH_CHECK(x.movedim(0, 2).size(2) == 2 && x.unflatten(2, {2, 2}).dim() == 4 && x.swapaxes(0, 1).size(0) == 3);
    TORCH_CHECK(x.as_strided({2, 2}, {12, 1}, 1).storage_offset() == 1 && x.view_as(x).is_alias_of(x));
    for (auto i : c10::irange(x.dim())) TORCH_CHECK(x.stride(i) > 0);
}

static void kinds(const torch::Tensor& x) {
    TORCH_CHECK(x.is_cuda() && x.device().type() == torch::kCUDA && x.device() == torch::Device(torch::kCUDA, 0));
    TORCH_CHECK(x.options().device() == x.device() && x.get_device() == 0 && x.layout() == torch::kStrided);
    TORCH_CHECK(x.element_size() == torch::elementSize(x.scalar_type()) && x.nbytes() == x.numel() * x.itemsize());
    TORCH_CHECK(x.is_floating_point() && !x.requires_grad() && x.dtype() == x.scalar_type() && x.type() == x.type());
    TORCH_CHECK(torch::empty({3}).device().is_cpu() && torch::empty({3}, torch::kCUDA).is_cuda());
    TORCH_CHECK(torch::empty({}, x.options()).dim() == 0 && torch::empty({0, 4}, x.options()).numel() == 0);
    TORCH_CHECK(torch::empty_strided({2, 2}, {1, 2}, x.options()).stride(1) == 2 && x.new_empty({7}).size(0) == 7);
    TORCH_CHECK(torch::full({2}, 3, torch::device(torch::kCUDA).dtype(torch::kInt64)).scalar_type() == torch::kLong);
    TORCH_CHECK(torch::ones({2}, torch::dtype(torch::kFloat16).device("cuda:0")).dtype() == torch::kHalf);
    TORCH_CHECK(torch::zeros_like(x, torch::kInt32).scalar_type() == at::kInt && x.new_zeros({2}, torch::kBool).numel());
    TORCH_CHECK(torch::tensor(2.5).item<double>() == 2.5 && torch::tensor({1.5f, 2.5f}).scalar_type() == at::kFloat);
}

static void numbers() {
    const auto host = torch::tensor({1, 2, 3}, torch::dtype(torch::kInt64));
    TORCH_CHECK(host.select(0, 1).item<int64_t>() == 2 && (host.accessor<int64_t, 1>()[2] == 3));
    TORCH_CHECK(at::Half(1.5f) + at::Half(1.0f) == at::Half(2.5f) && float(at::BFloat16(3.0f)) == 3.0f);
    TORCH_CHECK(std::numeric_limits<at::Half>::max() > at::Half(60000.0f) && at::Scalar(2.5).to<int>() == 2);
    TORCH_CHECK(at::cuda::getCurrentDeviceProperties()->warpSize == 64 && at::ceil_div(7, 2) == 4);
    c10::optional<torch::Tensor> nothing = c10::nullopt;
    TORCH_CHECK(!nothing.has_value() && !torch::Tensor().defined());
}

std::vector<torch::Tensor> forward(torch::Tensor x) {
    const at::cuda::CUDAGuard guard(x.device());
    shapes(x), kinds(x), numbers();
    auto y = torch::zeros_like(x);
    auto total = torch::zeros({1}, x.options().dtype(torch::kFloat32));
    at::cuda::CUDAStream stream = at::cuda::getCurrentCUDAStream(x.device().index());
    AT_DISPATCH_SWITCH(x.scalar_type(), "tour",
                       AT_DISPATCH_CASE(at::ScalarType::Float, [&] {
                           mixed<scalar_t><<<1, 64, 0, stream>>>(x.const_data_ptr<scalar_t>(), y.mutable_data_ptr<scalar_t>(), total.data_ptr<float>(), x.numel());
                       })
                       AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES([&] {
                           mixed<scalar_t><<<1, 64, 0, stream>>>(x.const_data_ptr<scalar_t>(), y.mutable_data_ptr<scalar_t>(), total.data_ptr<float>(), x.numel());
                       }));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    AT_CUDA_CHECK(hipStreamSynchronize(stream.stream()));
    auto half = x.to(torch::kFloat16), brain = x.to(torch::TensorOptions().dtype(torch::kBFloat16));
    native<<<1, 24, 0, stream>>>(reinterpret_cast<const __half*>(half.data_ptr<at::Half>()),
                                 reinterpret_cast<const __hip_bfloat16*>(brain.data_ptr<at::BFloat16>()), total.data_ptr<float>());
    total.fill_(1), y.zero_(), y.copy_(x), y.slice(2, 0, 4, 2).fill_(7);
    return {y, total, x.clone(), x.transpose(0, 1).contiguous(), x.type_as(total)};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
