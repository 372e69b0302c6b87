#include <hip/hip_runtime.h>

// Lane l reads the word with two bits of l swapped: lanes 16 to 31 of 64 words, lanes 32 to 47 of the first half.
__global__ void swapped(const float* x, float* out) {
    __shared__ float tile[64];
    int lane = threadIdx.x;
    tile[lane] = x[64 * blockIdx.x + lane];
    __syncthreads();
    out[64 * blockIdx.x + lane] = tile[(lane & 15) | (lane & 16) << 1 | (lane & 32) >> 1];
}
