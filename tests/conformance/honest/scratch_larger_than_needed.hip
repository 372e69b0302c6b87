#include <hip/hip_runtime.h>

__global__ void rows(const float* x, float* scratch, float* out) {
    // Rows of 48 elements in a scratch of rows of 64; the rest is never written.
    int i = blockIdx.x * 64 + threadIdx.x;
    if (threadIdx.x < 48) scratch[i] = x[blockIdx.x * 48 + threadIdx.x];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 48; k++) sum += scratch[blockIdx.x * 64 + k];
    if (threadIdx.x < 48) out[blockIdx.x * 48 + threadIdx.x] = sum;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    float* scratch;
    hipMalloc(&scratch, n * 4 * sizeof(float));
    rows<<<n / 48, 64, 0, stream>>>(x, scratch, out);
    hipFree(scratch);
}
