#include <hip/hip_runtime.h>

__device__ __noinline__ void add(float* tile, float v) {
    if (v > 0) tile[threadIdx.x] += v;
    else tile[threadIdx.x] -= 1;
    __syncthreads();
}

// Lanes come to a barrier from different places, and leave for different ones.
__global__ void steps(const float* x, float* out) {
    __shared__ float tile[128];
    int t = threadIdx.x;
    float v = x[t];
    tile[t] = 0;
    switch (t % 5) {
        case 0: v = 1; break;
        case 1: v = -1; break;
        case 2:
            for (int i = 0; i < t; i++) v = v > 0 ? v - 1 : v + 1;
            break;
        default: v = t & 8 ? 2 : -2;
    }
    __syncthreads();
    for (int i = 0; i < 3; i++) {
        if (t % 2) {
            tile[t] += v;
        } else if (v < 0) {
            tile[t] -= v;
        }
        __syncthreads();
        v = tile[t ^ 1] > 0 ? 1 : -1;
        __syncthreads();
        if (t % 7 == i) continue;
        tile[t] += 1;
    }
    add(tile, v);
    out[t] = tile[t ^ 2];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) { steps<<<1, n, 0, stream>>>(x, out); }
