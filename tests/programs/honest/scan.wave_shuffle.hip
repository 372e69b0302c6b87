// Inclusive scans of waves by shuffles up; lane masks by ballot decide how far a row goes.
#include <hip/hip_runtime.h>

template <int WAVES> __global__ void scan(const float* __restrict__ x, float* __restrict__ y, int cols) {
    __shared__ float totals[WAVES];
    const int lane = threadIdx.x & 63, wave = threadIdx.x >> 6;
    float carry = 0.f;
    for (int c = threadIdx.x; __syncthreads_or(c < cols); c += WAVES * 64) {
        float v = c < cols ? x[blockIdx.x * cols + c] : 0.f;
#pragma unroll
        for (int d = 1; d < 64; d <<= 1) {
            const float other = __shfl_up(v, d, 64);
            if (lane >= d) v += other;
        }
        if (lane == 63) totals[wave] = v;
        __syncthreads();
        float before = carry;
        for (int w = 0; w < wave; w++) before += totals[w];
        for (int w = 0; w < WAVES; w++) carry += totals[w];
        if (c < cols) y[blockIdx.x * cols + c] = before + v;
        __syncthreads();
    }
}

extern "C" void run(const float* x, int64_t rows, int64_t cols, float* out, hipStream_t stream) {
    scan<4><<<dim3(rows), dim3(256), 0, stream>>>(x, out, static_cast<int>(cols));
}
