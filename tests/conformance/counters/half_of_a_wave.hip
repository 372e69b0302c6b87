#include <hip/hip_runtime.h>

__global__ void odd(const float* x, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float y = x[i];
    if (threadIdx.x % 2)
        for (int k = 0; k < 5000; k++) y = y * 0.5f + 1.0f;
    out[i] = y;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    odd<<<n / 64, 64, 0, stream>>>(x, out);
}
