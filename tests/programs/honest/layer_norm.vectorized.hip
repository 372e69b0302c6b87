// 16 bytes a load; widths are multiples of 8.
#include <hip/hip_bfloat16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_bf16.h>
#include <hip/hip_runtime.h>

template <typename T, int N> struct alignas(sizeof(T) * N) Vec {
    T v[N];
};

template <int BLOCK> __device__ float block_sum(float v) {
    __shared__ float warps[BLOCK / 64];
#pragma unroll
    for (int o = 32; o > 0; o >>= 1) v += __shfl_xor(v, o, 64);
    if ((threadIdx.x & 63) == 0) warps[threadIdx.x >> 6] = v;
    __syncthreads();
    float s = threadIdx.x < BLOCK / 64 ? warps[threadIdx.x] : 0.f;
    if (threadIdx.x < 64) {
        for (int o = BLOCK / 128; o > 0; o >>= 1) s += __shfl_xor(s, o, 64);
        if (threadIdx.x == 0) warps[0] = s;
    }
    __syncthreads();
    s = warps[0];
    __syncthreads();
    return s;
}

template <typename T, int BLOCK>
__global__ __launch_bounds__(BLOCK) void ln(const T* x, const T* w, const T* b, T* y, int n) {
    constexpr int N = 16 / sizeof(T);
    using V = Vec<T, N>;
    const V* xv = reinterpret_cast<const V*>(x + size_t(blockIdx.x) * n);
    V* yv = reinterpret_cast<V*>(y + size_t(blockIdx.x) * n);
    float sum = 0.f;
    for (int i = threadIdx.x; i < n / N; i += BLOCK) {
        V t = xv[i];
#pragma unroll
        for (int j = 0; j < N; j++) sum += float(t.v[j]);
    }
    const float mean = block_sum<BLOCK>(sum) / n;
    float sq = 0.f;
    for (int i = threadIdx.x; i < n / N; i += BLOCK) {
        V t = xv[i];
#pragma unroll
        for (int j = 0; j < N; j++) {
            float d = float(t.v[j]) - mean;
            sq = fmaf(d, d, sq);
        }
    }
    const float inv = rsqrtf(block_sum<BLOCK>(sq) / n + 1e-5f);
    for (int i = threadIdx.x; i < n / N; i += BLOCK) {
        V t = xv[i], g = reinterpret_cast<const V*>(w)[i], s = reinterpret_cast<const V*>(b)[i], r;
#pragma unroll
        for (int j = 0; j < N; j++) r.v[j] = T((float(t.v[j]) - mean) * inv * float(g.v[j]) + float(s.v[j]));
        yv[i] = r;
    }
}

#define LAUNCHER(name, T)                                                                                              \
    extern "C" void name(const T* x, const T* w, const T* b, int64_t width, int64_t rows, int64_t cols, int64_t w_0,      \
                         int64_t b_0, T* out, hipStream_t stream) {                                                    \
        ln<T, 128><<<dim3(rows), dim3(128), 0, stream>>>(x, w, b, out, int(cols));                                       \
    }
LAUNCHER(run, float)
LAUNCHER(run_float16, __half)
LAUNCHER(run_bfloat16, __hip_bfloat16)
