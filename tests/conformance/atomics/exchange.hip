#include <hip/hip_runtime.h>

__global__ void pass_on(const int* x, int* out, int64_t n) {
    // Each value goes in once, and each but the last comes out once.
    __shared__ int slot, sum;
    if (threadIdx.x == 0) slot = sum = 0;
    __syncthreads();
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&sum, atomicExch(&slot, x[i]));
    __syncthreads();
    if (threadIdx.x == 0) *out = sum + slot;
}

extern "C" void run(const int* x, int64_t n, int* out, hipStream_t stream) {
    pass_on<<<1, 256, 0, stream>>>(x, out, n);
}
