#include <hip/hip_runtime.h>

// Wave 0 writes the low halves, wave 1 the high ones, and then wave 2 reads a low one.
__global__ void halves(const float* x, float* out) {
    __shared__ unsigned short tile[128];
    int lane = threadIdx.x % 64, wave = threadIdx.x / 64;
    if (wave < 2) tile[2 * lane + wave] = (unsigned short)threadIdx.x;
    else out[lane] = tile[2 * lane];  // here
    __syncthreads();
    if (wave < 2) out[threadIdx.x] = tile[threadIdx.x];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    halves<<<1, 192, 0, stream>>>(x, out);
}
