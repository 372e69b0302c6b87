// A wave a row, several rows a block, xor shuffles; rows in registers where they fit.
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#define WARP_SIZE 64

__device__ inline float to_float(float v) { return v; }
__device__ inline float to_float(__half v) { return __half2float(v); }
__device__ inline float to_float(__hip_bfloat16 v) { return __bfloat162float(v); }
template <typename T> __device__ T from_float(float v);
template <> __device__ inline float from_float<float>(float v) { return v; }
template <> __device__ inline __half from_float<__half>(float v) { return __float2half(v); }
template <> __device__ inline __hip_bfloat16 from_float<__hip_bfloat16>(float v) { return __float2bfloat16(v); }

template <typename T, int ITEMS>
__global__ void softmax_rows(const T* __restrict__ in, T* __restrict__ out, int64_t rows, int64_t cols) {
    const int64_t row = int64_t(blockIdx.x) * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    in += row * cols;
    out += row * cols;
    float reg[ITEMS];
    float maxv = -INFINITY;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        const int64_t c = threadIdx.x + i * WARP_SIZE;
        reg[i] = c < cols ? to_float(in[c]) : -INFINITY;
        maxv = fmaxf(maxv, reg[i]);
    }
    for (int mask = WARP_SIZE / 2; mask; mask /= 2) maxv = fmaxf(maxv, __shfl_xor(maxv, mask, WARP_SIZE));
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        reg[i] = exp2f((reg[i] - maxv) * 1.44269504088896f);
        sum += reg[i];
    }
    for (int mask = WARP_SIZE / 2; mask; mask /= 2) sum += __shfl_xor(sum, mask, WARP_SIZE);
    const float scale = 1.0f / sum;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        const int64_t c = threadIdx.x + i * WARP_SIZE;
        if (c < cols) out[c] = from_float<T>(reg[i] * scale);
    }
}

template <typename T> void launch(const T* x, int64_t rows, int64_t cols, T* y, hipStream_t stream) {
    dim3 block(WARP_SIZE, 4), grid((rows + 3) / 4);
    if (cols <= 64)
        softmax_rows<T, 1><<<grid, block, 0, stream>>>(x, y, rows, cols);
    else if (cols <= 512)
        softmax_rows<T, 8><<<grid, block, 0, stream>>>(x, y, rows, cols);
    else
        softmax_rows<T, 24><<<grid, block, 0, stream>>>(x, y, rows, cols);
}

extern "C" void run(const float* x, int64_t x_0, int64_t x_1, float* out, hipStream_t s) { launch(x, x_0, x_1, out, s); }
extern "C" void run_float16(const __half* x, int64_t x_0, int64_t x_1, __half* out, hipStream_t s) { launch(x, x_0, x_1, out, s); }
extern "C" void run_bfloat16(const __hip_bfloat16* x, int64_t x_0, int64_t x_1, __hip_bfloat16* out, hipStream_t s) {
    launch(x, x_0, x_1, out, s);
}
