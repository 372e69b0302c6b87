#include <hip/hip_runtime.h>

__global__ void rounds(const float* x, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float y = x[i];
    for (int k = 0; k < 10; k++) y = expf(y) - 1.0f;
    out[i] = y;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    rounds<<<n / 64, 64, 0, stream>>>(x, out);
}
