#include <hip/hip_runtime.h>

__global__ void sum(const float* x, float* out) {
    extern __shared__ float total[];
    atomicAdd(&total[0], x[threadIdx.x]);  // here
    __syncthreads();
    if (threadIdx.x == 0) out[0] = total[0];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    sum<<<1, 64, sizeof(float), stream>>>(x, out);
}
