#include <hip/hip_runtime.h>

__global__ void scan(const int* x, int* out) {
    __shared__ int tile[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    tile[threadIdx.x] = x[i];
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        int before = threadIdx.x >= step ? tile[threadIdx.x - step] : 0;
        __syncthreads();
        tile[threadIdx.x] += before;
        __syncthreads();
    }
    out[i] = tile[threadIdx.x];
}

extern "C" void run(const int* x, int64_t n, int* out, hipStream_t stream) {
    scan<<<n / 256, 256, 0, stream>>>(x, out);
}
