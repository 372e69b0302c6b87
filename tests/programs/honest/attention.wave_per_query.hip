// A wave a query: lanes are dimensions, dot products by butterfly, one key after another.
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

template <typename T>
__global__ __launch_bounds__(256, 2) void attend(const T* q, const T* k, const T* v, T* o, int n, int d, int rows) {
    const int wave = blockIdx.x * (blockDim.x / 64) + threadIdx.x / 64, lane = __lane_id();
    if (wave >= rows) return;
    const int head = wave / n, row = wave % n;
    const float mine = lane < d ? float(q[size_t(wave) * d + lane]) * rsqrtf(float(d)) : 0.f;
    float top = -3.0e38f, sum = 0.f, acc = 0.f;
    for (int j = 0; j <= row; ++j) {
        const size_t at = (size_t(head) * n + j) * d + lane;
        float s = lane < d ? mine * float(k[at]) : 0.f;
        for (int w = 32; w >= 1; w >>= 1) s += __shfl_xor(s, w);
        const float next = fmaxf(top, s), keep = __expf(top - next), p = __expf(s - next);
        sum = sum * keep + p;
        acc = acc * keep + p * (lane < d ? float(v[at]) : 0.f);
        top = next;
    }
    if (lane < d) o[size_t(wave) * d + lane] = T(acc / sum);
}

#define L(name, T)                                                                                                         \
    extern "C" void name(const T* q, const T* k, const T* v, int64_t b, int64_t h, int64_t n, int64_t d, int64_t, int64_t,   \
                         int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, T* out, hipStream_t s) {                    \
        int rows = b * h * n;                                                                                              \
        attend<T><<<(rows + 3) / 4, 256, 0, s>>>(q, k, v, out, n, d, rows);                                                \
    }
L(run, float)
L(run_float16, __half)
L(run_bfloat16, __hip_bfloat16)
