#include <hip/hip_runtime.h>

__device__ unsigned arrived;

__global__ void sum(const float* x, float* partial, float* out, int64_t n) {
    __shared__ bool last;
    __shared__ float total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) atomicAdd(&total, x[i]);
    __syncthreads();
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = total;
        __threadfence();
        last = atomicAdd(&arrived, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float all = 0;
        for (unsigned b = 0; b < gridDim.x; b++) all += partial[b];
        *out = all;
    }
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    unsigned blocks = (n + 127) / 128;
    float* partial;
    hipMalloc(&partial, blocks * sizeof(float));
    sum<<<blocks, 128, 0, stream>>>(x, partial, out, n);
    hipFree(partial);
}
