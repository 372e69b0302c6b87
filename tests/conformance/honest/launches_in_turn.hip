#include <hip/hip_runtime.h>

__global__ void shift(const float* from, float* to, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) to[i] = from[(i + 1) % n];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    float* scratch;
    hipMalloc(&scratch, n * sizeof(float));
    shift<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
    for (int k = 0; k < 3; k++) {
        shift<<<(n + 255) / 256, 256, 0, stream>>>(out, scratch, n);
        shift<<<(n + 255) / 256, 256, 0, stream>>>(scratch, out, n);
    }
    hipFree(scratch);
}
