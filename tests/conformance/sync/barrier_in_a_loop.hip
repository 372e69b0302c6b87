#include <hip/hip_runtime.h>

__global__ void bubbles(const int* x, int* out) {
    __shared__ int tile[64];
    tile[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
    for (int k = 0; k < 64; k++) {
        __syncthreads();
        int i = threadIdx.x;
        if (i % 2 == k % 2 && i < 63 && tile[i] > tile[i + 1]) {
            int t = tile[i];
            tile[i] = tile[i + 1];
            tile[i + 1] = t;
        }
    }
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x];
}

extern "C" void run(const int* x, int64_t n, int* out, hipStream_t stream) {
    bubbles<<<n / 64, 64, 0, stream>>>(x, out);
}
