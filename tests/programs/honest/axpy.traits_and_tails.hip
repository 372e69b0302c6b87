// A traits class picks the vector; if constexpr the arithmetic; a scalar tail for what is left.
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#include <type_traits>

template <typename T> struct Traits {
    using Vector = float4;
    static constexpr int width = sizeof(float4) / sizeof(T);
};
template <> struct Traits<__half> {
    using Vector = __half2;
    static constexpr int width = 2;
};

template <typename T> __device__ __forceinline__ T axpy_one(double alpha, T x, T y) {
    if constexpr (std::is_same_v<T, double>)
        return fma(alpha, x, y);
    else if constexpr (std::is_same_v<T, float>)
        return __fmaf_rn((float)alpha, x, y);
    else if constexpr (std::is_same_v<T, __half>)
        return __hadd(__hmul(__float2half_rn((float)alpha), x), y);
    else
        return __float2bfloat16(__bfloat162float(__float2bfloat16((float)alpha * __bfloat162float(x))) + __bfloat162float(y));
}

template <typename T> __global__ void axpy(const T* __restrict__ x, const T* __restrict__ y, T* __restrict__ out, double alpha, int64_t n) {
    using V = typename Traits<T>::Vector;
    constexpr int W = Traits<T>::width;
    const int64_t tid = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x, vectors = n / W;
    if (tid < vectors) {
        V a = reinterpret_cast<const V*>(x)[tid], b = reinterpret_cast<const V*>(y)[tid], r;
        if constexpr (std::is_same_v<T, __half>) {
            r = __hfma2(__float2half2_rn((float)alpha), a, b);
        } else {
            const T *pa = reinterpret_cast<const T*>(&a), *pb = reinterpret_cast<const T*>(&b);
            T* pr = reinterpret_cast<T*>(&r);
#pragma unroll
            for (int i = 0; i < W; ++i) pr[i] = axpy_one(alpha, pa[i], pb[i]);
        }
        reinterpret_cast<V*>(out)[tid] = r;
    }
    const int64_t left = vectors * W + tid;
    if (tid < n - vectors * W) out[left] = axpy_one(alpha, x[left], y[left]);
}

#define L(name, T)                                                                                                    \
    extern "C" void name(const T* x, const T* y, double alpha, int64_t n, int64_t, T* out, hipStream_t s) {           \
        axpy<T><<<dim3((n + 255) / 256), dim3(256), 0, s>>>(x, y, out, alpha, n);                                     \
    }
L(run, float)
L(run_float16, __half)
L(run_bfloat16, __hip_bfloat16)
L(run_float64, double)
