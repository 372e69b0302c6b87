#include <hip/hip_runtime.h>

__global__ void even(const int* x, int* out) {
    __shared__ int tile[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    if (blockIdx.x % 2 == 0) {
        tile[threadIdx.x] = x[i];
        __syncthreads();
        out[i] = tile[127 - threadIdx.x];
    } else {
        out[i] = x[i];
    }
}

extern "C" void run(const int* x, int64_t n, int* out, hipStream_t stream) {
    even<<<n / 128, 128, 0, stream>>>(x, out);
}
