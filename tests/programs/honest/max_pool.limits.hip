#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#include <limits>

template <typename T, int WINDOW = 3, int STRIDE = 2, int PADDING = 1>
__global__ void pool(const T* x, T* y, int h, int w, int oh, int ow) {
    const int ox = blockIdx.x * blockDim.x + threadIdx.x, oy = blockIdx.y * blockDim.y + threadIdx.y;
    if (ox >= ow || oy >= oh) return;
    const T* plane = x + size_t(blockIdx.z) * h * w;
    float best = -std::numeric_limits<float>::infinity();
#pragma unroll
    for (int r = 0; r < WINDOW; r++)
#pragma unroll
        for (int c = 0; c < WINDOW; c++) {
            const int iy = oy * STRIDE + r - PADDING, ix = ox * STRIDE + c - PADDING;
            if (iy >= 0 && iy < h && ix >= 0 && ix < w) best = max(best, float(plane[iy * w + ix]));
        }
    y[(size_t(blockIdx.z) * oh + oy) * ow + ox] = T(best);
}

template <typename T> void go(const T* x, int64_t n, int64_t c, int64_t h, int64_t w, T* out, hipStream_t s) {
    const int oh = (h - 1) / 2 + 1, ow = (w - 1) / 2 + 1;
    pool<T><<<dim3((ow + 15) / 16, (oh + 3) / 4, n * c), dim3(16, 4), 0, s>>>(x, out, h, w, oh, ow);
}
extern "C" {
void run(const float* x, int64_t n, int64_t c, int64_t h, int64_t w, float* out, hipStream_t s) { go(x, n, c, h, w, out, s); }
void run_float16(const __half* x, int64_t n, int64_t c, int64_t h, int64_t w, __half* out, hipStream_t s) { go(x, n, c, h, w, out, s); }
void run_bfloat16(const __hip_bfloat16* x, int64_t n, int64_t c, int64_t h, int64_t w, __hip_bfloat16* out, hipStream_t s) {
    go(x, n, c, h, w, out, s);
}
}
