// Packed accessors over strided inputs, one thread a pair.
#include <hip/hip_runtime.h>
#include <torch/extension.h>

template <typename scalar_t>
__global__ void rope(const torch::PackedTensorAccessor32<scalar_t, 3, torch::RestrictPtrTraits> x,
                     const torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> cosine,
                     const torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> sine,
                     torch::PackedTensorAccessor32<scalar_t, 3, torch::RestrictPtrTraits> out) {
    const int half = x.size(2) / 2, total = x.size(0) * x.size(1) * half;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += blockDim.x * gridDim.x) {
        const int d = i % half, h = i / half % x.size(1), n = i / half / x.size(1);
        const float a = x[n][h][d], b = x[n][h][d + half];
        out[n][h][d] = static_cast<scalar_t>(a * static_cast<float>(cosine[n][d]) - b * static_cast<float>(sine[n][d]));
        out[n][h][d + half] =
            static_cast<scalar_t>(b * static_cast<float>(cosine[n][d + half]) + a * static_cast<float>(sine[n][d + half]));
    }
}

torch::Tensor forward(torch::Tensor x, torch::Tensor c, torch::Tensor s) {
    auto out = torch::empty(x.sizes(), x.options());
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "rope", ([&] {
        rope<scalar_t><<<4, 128>>>(x.packed_accessor32<scalar_t, 3, torch::RestrictPtrTraits>(),
                                   c.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(),
                                   s.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(),
                                   out.packed_accessor32<scalar_t, 3, torch::RestrictPtrTraits>());
    }));
    return out;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
