#include <hip/hip_runtime.h>

// Two scratch buffers; the index runs out of the first towards the second.
__global__ void spread(const float* x, float* first, float* second, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    second[i] = x[i];
    first[n + i] = 2 * x[i];  // here
    out[i] = second[i];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    float *first, *second;
    hipMalloc(&first, n * sizeof(float));
    hipMalloc(&second, n * sizeof(float));
    spread<<<(n + 255) / 256, 256, 0, stream>>>(x, first, second, out, n);
    hipFree(first), hipFree(second);
}
