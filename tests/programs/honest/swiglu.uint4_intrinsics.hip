// 16-byte loads as uint4, arithmetic in pairs by intrinsics.
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

__device__ __forceinline__ float silu(float x) { return __fdividef(x, 1.0f + __expf(-x)); }

__device__ __forceinline__ unsigned act(unsigned g, unsigned u, __half) {
    __half2 a = *reinterpret_cast<__half2*>(&g), b = *reinterpret_cast<__half2*>(&u);
    __half2 s = __floats2half2_rn(silu(__low2float(a)), silu(__high2float(a)));
    s = __hmul2(s, b);
    return *reinterpret_cast<unsigned*>(&s);
}
__device__ __forceinline__ unsigned act(unsigned g, unsigned u, __hip_bfloat16) {
    const float g0 = __uint_as_float(g << 16), g1 = __uint_as_float(g & 0xffff0000u);
    const float u0 = __uint_as_float(u << 16), u1 = __uint_as_float(u & 0xffff0000u);
    __hip_bfloat162 r;
    r.x = __float2bfloat16(silu(g0) * u0);
    r.y = __float2bfloat16(silu(g1) * u1);
    unsigned bits;
    memcpy(&bits, &r, sizeof bits);
    return bits;
}
__device__ __forceinline__ unsigned act(unsigned g, unsigned u, float) {
    return __float_as_uint(silu(__uint_as_float(g)) * __uint_as_float(u));
}

template <typename T> __global__ void swiglu(const T* __restrict__ x, T* __restrict__ y, int width, int total) {
    constexpr int N = 16 / sizeof(T);
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) * N;
    if (i >= total) return;
    const int row = i / width, c = i % width;
    const uint4 g = *reinterpret_cast<const uint4*>(x + 2 * row * width + c);
    const uint4 u = *reinterpret_cast<const uint4*>(x + 2 * row * width + width + c);
    uint4 r;
    r.x = act(g.x, u.x, T{});
    r.y = act(g.y, u.y, T{});
    r.z = act(g.z, u.z, T{});
    r.w = act(g.w, u.w, T{});
    *reinterpret_cast<uint4*>(y + row * width + c) = r;
}

#define L(name, T)                                                                                 \
    extern "C" void name(const T* x, int64_t rows, int64_t cols, T* out, hipStream_t stream) {     \
        const int width = cols / 2, total = rows * width, N = 16 / sizeof(T);                      \
        swiglu<T><<<(total / N + 63) / 64, 64, 0, stream>>>(x, out, width, total);                 \
    }
L(run, float)
L(run_float16, __half)
L(run_bfloat16, __hip_bfloat16)
