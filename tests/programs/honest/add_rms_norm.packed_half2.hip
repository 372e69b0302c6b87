// float2, __half2 and __hip_bfloat162 at a time; widths are even.
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

template <typename T> struct Pair;
template <> struct Pair<float> {
    using type = float2;
    static __device__ float2 get(float2 v) { return v; }
    static __device__ float2 put(float2 v) { return v; }
    static __device__ float2 add(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
};
template <> struct Pair<__half> {
    using type = __half2;
    static __device__ float2 get(__half2 v) { return __half22float2(v); }
    static __device__ __half2 put(float2 v) { return __floats2half2_rn(v.x, v.y); }
    static __device__ __half2 add(__half2 a, __half2 b) { return __hadd2(a, b); }
};
template <> struct Pair<__hip_bfloat16> {
    using type = __hip_bfloat162;
    static __device__ float2 get(__hip_bfloat162 v) { return __bfloat1622float2(v); }
    static __device__ __hip_bfloat162 put(float2 v) { return __float22bfloat162_rn(v); }
    static __device__ __hip_bfloat162 add(__hip_bfloat162 a, __hip_bfloat162 b) { return __hadd2(a, b); }
};

template <typename T>
__global__ void rms(const T* x, const T* r, const T* w, T* y, T* z, int pairs, float eps) {
    using P = Pair<T>;
    using V = typename P::type;
    extern __shared__ float shared[];
    const V *xv = reinterpret_cast<const V*>(x), *rv = reinterpret_cast<const V*>(r), *wv = reinterpret_cast<const V*>(w);
    V *yv = reinterpret_cast<V*>(y), *zv = reinterpret_cast<V*>(z);
    const int first = blockIdx.x * pairs;
    float sum = 0;
    for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
        const V t = P::add(xv[first + i], rv[first + i]);
        zv[first + i] = t;
        const float2 f = P::get(t);
        sum += f.x * f.x + f.y * f.y;
    }
    shared[threadIdx.x] = sum;
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        __syncthreads();
        if (threadIdx.x < s) shared[threadIdx.x] += shared[threadIdx.x + s];
    }
    __syncthreads();
    const float scale = rsqrtf(shared[0] / (2 * pairs) + eps);
    for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
        const float2 f = P::get(zv[first + i]), g = P::get(wv[i]);
        yv[first + i] = P::put(make_float2(f.x * scale * g.x, f.y * scale * g.y));
    }
}

#define L(name, T)                                                                                                     \
    extern "C" void name(const T* x, const T* r, const T* w, int64_t width, double eps, int64_t rows, int64_t cols,    \
                         int64_t, int64_t, int64_t, T* y, T* z, hipStream_t s) {                                       \
        rms<T><<<rows, 128, 128 * sizeof(float), s>>>(x, r, w, y, z, cols / 2, eps);                                   \
    }
L(run, float)
L(run_float16, __half)
L(run_bfloat16, __hip_bfloat16)
