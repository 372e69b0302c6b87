#include <hip/hip_runtime.h>

__global__ void count(const int* x, int* out, int64_t n) {
    __shared__ int bins[20];
    for (int b = threadIdx.x; b < 20; b += blockDim.x) bins[b] = 0;
    __syncthreads();
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) atomicAdd(&bins[(x[i] + 1000) / 100], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < 20; b += blockDim.x) atomicAdd(&out[b], bins[b]);
}

extern "C" void run(const int* x, int64_t n, int* out, hipStream_t stream) {
    hipMemsetAsync(out, 0, 20 * sizeof(int), stream);
    count<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
}
