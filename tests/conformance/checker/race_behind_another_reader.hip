#include <hip/hip_runtime.h>

// Wave 0 reads the low halves, wave 1 the high ones, and then wave 2 writes the low ones.
__global__ void halves(const float* x, float* out) {
    __shared__ unsigned short tile[128];
    int lane = threadIdx.x % 64, wave = threadIdx.x / 64;
    if (threadIdx.x < 128) tile[threadIdx.x] = (unsigned short)threadIdx.x;
    __syncthreads();
    if (wave < 2) out[threadIdx.x] = tile[2 * lane + wave];
    else tile[2 * lane] = (unsigned short)(lane + 1000);  // here
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    halves<<<1, 192, 0, stream>>>(x, out);
}
