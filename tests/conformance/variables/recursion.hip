#include <hip/hip_runtime.h>

__device__ int fibonacci(int k) { return k < 2 ? k : fibonacci(k - 1) + fibonacci(k - 2); }
__global__ void numbers(float* out) { out[threadIdx.x] = fibonacci(threadIdx.x); }

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    numbers<<<1, 12, 0, stream>>>(out);
}
