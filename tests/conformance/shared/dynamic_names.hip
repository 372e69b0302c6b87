#include <hip/hip_runtime.h>

extern __shared__ float as_float[];
extern __shared__ int as_int[];
__global__ void bits(const float* x, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    as_float[threadIdx.x] = x[i];
    __syncthreads();
    out[i] = as_int[threadIdx.x ^ 1];
}

extern "C" void run(const float* x, int64_t n, int* out, hipStream_t stream) {
    bits<<<n / 64, 64, 256, stream>>>(x, out);
}
