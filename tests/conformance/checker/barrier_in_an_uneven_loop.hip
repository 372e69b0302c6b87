#include <hip/hip_runtime.h>

__global__ void rounds(const float* x, float* out) {
    float sum = 0;
    for (unsigned k = 0; k <= threadIdx.x % 3; k++) {
        sum += x[threadIdx.x + k];
        __syncthreads();  // here
    }
    out[threadIdx.x] = sum;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    rounds<<<1, 64, 0, stream>>>(x, out);
}
