#include <hip/hip_runtime.h>

__global__ void shift(const float* x, float* scratch, float* out) {
    scratch[threadIdx.x] = x[threadIdx.x];                  // here
    out[threadIdx.x] = scratch[(threadIdx.x + 100) % 128];  // here
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    float* scratch;
    hipMalloc(&scratch, n * sizeof(float));
    hipMemsetAsync(scratch, 0, n * sizeof(float), stream);
    shift<<<1, 128, 0, stream>>>(x, scratch, out);
    hipFree(scratch);
}
