#include <hip/hip_runtime.h>

__global__ void count(const float* x, float* out) {
    __shared__ unsigned positive;
    positive = 0;
    __syncthreads();
    if (x[threadIdx.x] > 0) atomicAdd(&positive, 1u);
    __syncthreads();
    if (threadIdx.x == 0) out[0] = positive;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    count<<<1, 256, 0, stream>>>(x, out);
}
