#include <hip/hip_runtime.h>

__global__ void saxpy(const float* x, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = fmaf(3.0f, x[i], x[i]);
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    saxpy<<<n / 128, 128, 0, stream>>>(x, out);
}
