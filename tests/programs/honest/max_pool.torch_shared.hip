// A plane's tile with its rim in LDS.
#include <hip/hip_runtime.h>
#include <torch/extension.h>

template <typename T> __global__ void pool(const T* __restrict__ x, T* __restrict__ y, int h, int w, int oh, int ow) {
    constexpr int OT = 8, IT = 2 * OT + 1;
    __shared__ T tile[IT][IT];
    const int iy0 = blockIdx.y * OT * 2 - 1, ix0 = blockIdx.x * OT * 2 - 1;
    const T* plane = x + (int64_t)blockIdx.z * h * w;
    const T low = std::numeric_limits<T>::lowest();
    for (int i = threadIdx.y * OT + threadIdx.x; i < IT * IT; i += OT * OT) {
        const int y0 = iy0 + i / IT, x0 = ix0 + i % IT;
        tile[i / IT][i % IT] = (unsigned)y0 < (unsigned)h && (unsigned)x0 < (unsigned)w ? plane[y0 * w + x0] : low;
    }
    __syncthreads();
    const int ox = blockIdx.x * OT + threadIdx.x, oy = blockIdx.y * OT + threadIdx.y;
    if (ox >= ow || oy >= oh) return;
    T best = tile[2 * threadIdx.y][2 * threadIdx.x];
#pragma unroll
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            const T v = tile[2 * threadIdx.y + r][2 * threadIdx.x + c];
            if (v > best) best = v;
        }
    y[((int64_t)blockIdx.z * oh + oy) * ow + ox] = best;
}

at::Tensor forward(const at::Tensor& input) {
    const auto x = input.contiguous();
    const int64_t n = x.size(0), c = x.size(1), h = x.size(2), w = x.size(3), oh = (h - 1) / 2 + 1, ow = (w - 1) / 2 + 1;
    at::Tensor y = at::empty({n, c, oh, ow}, x.options());
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "pool", [&] {
        pool<scalar_t><<<dim3((ow + 7) / 8, (oh + 7) / 8, n * c), dim3(8, 8)>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), h, w, oh, ow);
    });
    return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
