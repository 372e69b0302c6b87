#include <hip/hip_runtime.h>

__global__ void positive(const int* x, int* out) {
    int count = __syncthreads_count(x[blockIdx.x * 256 + threadIdx.x] > 0);
    if (threadIdx.x == 255) out[blockIdx.x] = count;
}

extern "C" void run(const int* x, int64_t n, int* out, hipStream_t stream) {
    positive<<<n / 256, 256, 0, stream>>>(x, out);
}
