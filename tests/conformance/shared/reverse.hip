#include <hip/hip_runtime.h>

__global__ void reverse(const float* x, float* out) {
    __shared__ float tile[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    tile[threadIdx.x] = x[i];
    __syncthreads();
    out[i] = tile[255 - threadIdx.x];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    reverse<<<n / 256, 256, 0, stream>>>(x, out);
}
