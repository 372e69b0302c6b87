#include <hip/hip_runtime.h>

union Word {
    float value;
    unsigned bits;
};
__global__ void signs(const float* x, unsigned* out) {
    __shared__ Word words[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    words[threadIdx.x].value = x[i];
    __syncthreads();
    out[i] = words[127 - threadIdx.x].bits >> 31;
}

extern "C" void run(const float* x, int64_t n, unsigned* out, hipStream_t stream) {
    signs<<<n / 128, 128, 0, stream>>>(x, out);
}
