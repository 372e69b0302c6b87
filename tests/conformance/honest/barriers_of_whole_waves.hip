#include <hip/hip_runtime.h>

__global__ void halves(const float* x, float* out) {
    __shared__ float tile[128];
    tile[threadIdx.x] = x[threadIdx.x];
    float sum;
    if (threadIdx.x < 64) {
        __syncthreads();
        sum = tile[threadIdx.x + 64];
    } else {
        __syncthreads();
        sum = tile[threadIdx.x - 64] * 2;
    }
    out[threadIdx.x] = sum;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    halves<<<1, 128, 0, stream>>>(x, out);
}
