#include <hip/hip_runtime.h>

// The owner of another byte writes between the two that share one.
__global__ void bytes(const float* x, float* out) {
    __shared__ unsigned char tile[4];
    if (threadIdx.x == 0) tile[0] = 1;
    if (threadIdx.x == 64) tile[1] = 2;
    if (threadIdx.x == 128) tile[2] = 3;
    if (threadIdx.x == 192) tile[0] = 4;  // here
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x / 64 % 3];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    bytes<<<1, 256, 0, stream>>>(x, out);
}
