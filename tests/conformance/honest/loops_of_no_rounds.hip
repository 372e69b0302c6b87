#include <hip/hip_runtime.h>

__global__ void sums(const float* x, float* out, int rounds) {
    float sum = 0;
    for (int k = 0; k < rounds; k++) sum += x[1000000 + k];
    out[threadIdx.x] = sum + threadIdx.x;
}

extern "C" void run(const float* x, int rounds, int64_t n, float* out, hipStream_t stream) {
    sums<<<1, 64, 0, stream>>>(x, out, rounds);
}
