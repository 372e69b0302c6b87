#include <hip/hip_runtime.h>

__global__ void sum(const int* x, int* out, int64_t n) {
    __shared__ int part[16];
    int value = 0;
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x) value += x[i];
    for (int step = 32; step; step /= 2) value += __shfl_down(value, step);
    if (threadIdx.x % 64 == 0) part[threadIdx.x / 64] = value;
    __syncthreads();
    if (threadIdx.x < 64) {
        value = threadIdx.x < blockDim.x / 64 ? part[threadIdx.x] : 0;
        for (int step = 8; step; step /= 2) value += __shfl_down(value, step);
        if (threadIdx.x == 0) *out = value;
    }
}

extern "C" void run(const int* x, int64_t n, int* out, hipStream_t stream) {
    sum<<<1, 1024, 0, stream>>>(x, out, n);
}
