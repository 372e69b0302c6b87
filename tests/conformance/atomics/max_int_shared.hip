#include <hip/hip_runtime.h>

__global__ void combine(const int* x, int* out, int64_t n) {
    __shared__ int total;
    if (threadIdx.x == 0) total = INT_MIN;
    __syncthreads();
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x) atomicMax(&total, static_cast<int>(x[i]));
    __syncthreads();
    if (threadIdx.x == 0) *out = total;
}

extern "C" void run(const int* x, int64_t n, int* out, hipStream_t stream) {
    combine<<<1, 256, 0, stream>>>(x, out, n);
}
