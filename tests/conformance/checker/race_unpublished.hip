#include <hip/hip_runtime.h>

__device__ unsigned arrived;
__global__ void sum(const float* x, float* partial, float* out) {
    if (threadIdx.x) return;
    partial[blockIdx.x] = x[blockIdx.x];
    if (atomicAdd(&arrived, 1u) == gridDim.x - 1) {
        float total = 0;
        for (unsigned i = 0; i < gridDim.x; i++) total += partial[i];  // here
        out[0] = total;
    }
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    float* partial;
    hipMalloc(&partial, 16 * sizeof(float));
    sum<<<16, 64, 0, stream>>>(x, partial, out);
    hipFree(partial);
}
