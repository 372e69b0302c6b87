#include <hip/hip_runtime.h>

__device__ unsigned arrived;
__global__ void sum(const float* x, float* partial, float* out) {
    __shared__ bool last;
    __shared__ float tile[64];
    tile[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        float total = 0;
        for (int i = 0; i < 64; i++) total += tile[i];
        partial[blockIdx.x] = total;
        __threadfence();
        last = atomicAdd(&arrived, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    if (threadIdx.x == 0) {
        float total = 0;
        for (unsigned i = 0; i < gridDim.x; i++) total += partial[i];
        out[0] = total;
        arrived = 0;
    }
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    float* partial;
    hipMalloc(&partial, n / 64 * sizeof(float));
    sum<<<n / 64, 64, 0, stream>>>(x, partial, out);
    sum<<<n / 64, 64, 0, stream>>>(x, partial, out + 1);
    hipFree(partial);
}
