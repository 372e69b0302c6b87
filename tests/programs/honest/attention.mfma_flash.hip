// 16 queries a wave by matrix instructions for half and bfloat16 through half; scores pass LDS between the two products.
#include <hip/hip_runtime.h>
#include <torch/extension.h>

typedef _Float16 h4 __attribute__((ext_vector_type(4)));
typedef float f4 __attribute__((ext_vector_type(4)));

template <typename T>
__global__ __launch_bounds__(64) void flash(const T* q, const T* k, const T* v, T* o, int n, float scale) {
    constexpr int D = 64;
    __shared__ _Float16 ps[16][16 + 4];
    const int lane = threadIdx.x, r = lane & 15, g = lane >> 4, row0 = blockIdx.x * 16;
    const size_t base = (size_t)blockIdx.y * n * D;
    h4 qf[D / 16];
#pragma unroll
    for (int d = 0; d < D / 16; d++)
        for (int i = 0; i < 4; i++)
            qf[d][i] = row0 + r < n ? (_Float16)(float)q[base + (size_t)(row0 + r) * D + 16 * d + 4 * g + i] : (_Float16)0.f;
    f4 acc[D / 16] = {};
    float m[4], l[4];
    for (int i = 0; i < 4; i++) m[i] = -1e30f, l[i] = 0.f;
    for (int j0 = 0; j0 <= row0 + 15 && j0 < n; j0 += 16) {
        f4 s = {0, 0, 0, 0};
#pragma unroll
        for (int d = 0; d < D / 16; d++) {
            h4 kf;
            for (int i = 0; i < 4; i++)
                kf[i] = j0 + r < n ? (_Float16)(float)k[base + (size_t)(j0 + r) * D + 16 * d + 4 * g + i] : (_Float16)0.f;
            s = __builtin_amdgcn_mfma_f32_16x16x16f16(qf[d], kf, s, 0, 0, 0);
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int row = row0 + 4 * g + i, col = j0 + r;
            float x = col <= row && col < n ? s[i] * scale : -1e30f;
            float top = x;
            for (int w = 8; w; w >>= 1) top = fmaxf(top, __shfl_xor(top, w, 16));
            const float next = fmaxf(m[i], top), keep = __expf(m[i] - next);
            const float p = col <= row && col < n ? __expf(x - next) : 0.f;
            float sum = p;
            for (int w = 8; w; w >>= 1) sum += __shfl_xor(sum, w, 16);
            l[i] = l[i] * keep + sum;
            m[i] = next;
            for (int d = 0; d < D / 16; d++) acc[d][i] *= keep;
            ps[4 * g + i][r] = (_Float16)p;
        }
        __syncthreads();
        h4 pf = *(h4*)&ps[r][4 * g];
#pragma unroll
        for (int d = 0; d < D / 16; d++) {
            h4 vf;
            for (int i = 0; i < 4; i++)
                vf[i] = j0 + 4 * g + i < n ? (_Float16)(float)v[base + (size_t)(j0 + 4 * g + i) * D + 16 * d + r] : (_Float16)0.f;
            acc[d] = __builtin_amdgcn_mfma_f32_16x16x16f16(pf, vf, acc[d], 0, 0, 0);
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) {
        const int row = row0 + 4 * g + i;
        if (row < n)
            for (int d = 0; d < D / 16; d++) o[base + (size_t)row * D + 16 * d + r] = (T)(acc[d][i] / l[i]);
    }
}

// Sums in fp32 for fp32 inputs.
__global__ void exact(const float* q, const float* k, const float* v, float* o, int n, int d, float scale) {
    extern __shared__ float s[];
    const int row = blockIdx.x, t = threadIdx.x;
    const size_t base = (size_t)blockIdx.y * n * d;
    for (int j = t; j <= row; j += blockDim.x) {
        float dot = 0;
        for (int i = 0; i < d; i++) dot += q[base + row * d + i] * k[base + j * d + i];
        s[j] = dot * scale;
    }
    __syncthreads();
    float top = -INFINITY, sum = 0, acc = 0;
    for (int j = 0; j <= row; j++) top = fmaxf(top, s[j]);
    for (int j = 0; j <= row; j++) {
        const float p = expf(s[j] - top);
        sum += p;
        acc += p * v[base + j * d + t];
    }
    o[base + row * d + t] = acc / sum;
}

at::Tensor forward(at::Tensor q, at::Tensor k, at::Tensor v) {
    q = q.contiguous(), k = k.contiguous(), v = v.contiguous();
    const int n = q.size(2), d = q.size(3);
    auto o = at::empty_like(q);
    const float scale = 1.f / sqrtf(d);
    const dim3 grid((n + 15) / 16, q.size(0) * q.size(1));
    if (q.dtype() == at::kFloat)
        exact<<<dim3(n, grid.y), d, n * sizeof(float)>>>(q.data_ptr<float>(), k.data_ptr<float>(), v.data_ptr<float>(), o.data_ptr<float>(), n, d, scale);
    else
        AT_DISPATCH_REDUCED_FLOATING_TYPES(q.scalar_type(), "flash", [&] {
            flash<scalar_t><<<grid, 64>>>(q.data_ptr<scalar_t>(), k.data_ptr<scalar_t>(), v.data_ptr<scalar_t>(), o.data_ptr<scalar_t>(), n, scale);
        });
    return o;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
