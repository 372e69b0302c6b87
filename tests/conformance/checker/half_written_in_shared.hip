#include <hip/hip_runtime.h>

// The second wave's half of the tile is filled only where there is an element.
__global__ void tail(const float* x, float* out, int64_t n) {
    __shared__ float tile[128];
    if (threadIdx.x < n) tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    float most = tile[0];
    for (int k = 1; k < 128; k++) most += tile[k];  // here
    if (threadIdx.x < n) out[threadIdx.x] = most;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    tail<<<1, 128, 0, stream>>>(x, out, n);
}
