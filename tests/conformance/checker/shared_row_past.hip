#include <hip/hip_runtime.h>

__global__ void rows(const float* x, float* out) {
    __shared__ float tile[8][8];
    int row = threadIdx.x / 8, column = threadIdx.x % 8;
    tile[row + 1][column] = x[threadIdx.x];  // here
    __syncthreads();
    out[threadIdx.x] = tile[row][column];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    rows<<<1, 64, 0, stream>>>(x, out);
}
