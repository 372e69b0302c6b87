#include <hip/hip_runtime.h>

__global__ void rounds(const float* x, float* out) {
    __shared__ float tile[64];
    float sum = 0;
    for (unsigned k = 0; k <= blockIdx.x; k++) {
        tile[threadIdx.x] = x[k * 64 + threadIdx.x];
        __syncthreads();
        sum += tile[threadIdx.x ^ 1];
        if (k == blockIdx.x) break;
        __syncthreads();
    }
    out[blockIdx.x * 64 + threadIdx.x] = sum;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    rounds<<<n / 64, 64, 0, stream>>>(x, out);
}
