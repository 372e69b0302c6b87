#include <hip/hip_runtime.h>

// Helpers that wait, called in branches that whole waves take, in loops, and one in the other.
__device__ __noinline__ float exchange(float* tile, float v) {
    tile[threadIdx.x] = v;
    __syncthreads();
    float other = tile[threadIdx.x ^ 64];
    __syncthreads();
    return other;
}
__device__ __noinline__ float rounds(float* tile, float v, int count) {
    return count ? rounds(tile, exchange(tile, v), count - 1) : v;
}

__global__ void steps(const float* x, float* out, int n) {
    __shared__ float tile[128];
    float v = x[threadIdx.x];
    if (threadIdx.x < 64) v = exchange(tile, v);
    else v = 2 * exchange(tile, v);
    int count = n % 2 ? 3 : 2;
    for (int i = 0; i < count; i++) {
        if (threadIdx.x % 3 == 0) v += 1;
        v = exchange(tile, v);
        if (threadIdx.x % 3 == 0) v -= 1;
    }
    out[threadIdx.x] = rounds(tile, v, 3);
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) { steps<<<1, 128, 0, stream>>>(x, out, n); }
