#include <hip/hip_runtime.h>

__constant__ float weights[4] = {1, 2, 3, 4};
__global__ void weigh(const float* x, float* out) {
    out[threadIdx.x] = x[threadIdx.x] * weights[threadIdx.x % 5];  // here
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    weigh<<<1, 64, 0, stream>>>(x, out);
}
