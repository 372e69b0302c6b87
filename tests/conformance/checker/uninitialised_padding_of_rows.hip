#include <hip/hip_runtime.h>

__global__ void fill(const float* x, float* scratch) {
    if (threadIdx.x < 48) scratch[blockIdx.x * 64 + threadIdx.x] = x[blockIdx.x * 48 + threadIdx.x];
}
__global__ void sums(const float* scratch, float* out) {
    float sum = 0;
    for (int k = 0; k < 64; k++) sum += scratch[blockIdx.x * 64 + k];  // here
    if (threadIdx.x < 48) out[blockIdx.x * 48 + threadIdx.x] = sum;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    float* scratch;
    hipMalloc(&scratch, n / 48 * 64 * sizeof(float));
    fill<<<n / 48, 64, 0, stream>>>(x, scratch);
    sums<<<n / 48, 64, 0, stream>>>(scratch, out);
    hipFree(scratch);
}
