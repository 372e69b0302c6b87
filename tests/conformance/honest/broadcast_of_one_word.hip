#include <hip/hip_runtime.h>

__global__ void normalise(const float* x, float* out) {
    __shared__ float largest;
    for (int k = 0; k < 3; k++) {
        if (threadIdx.x == unsigned(k)) largest = x[k] + 2;
        __syncthreads();
        out[k * 128 + threadIdx.x] = x[threadIdx.x] / largest;
        __syncthreads();
    }
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    normalise<<<1, 128, 0, stream>>>(x, out);
}
