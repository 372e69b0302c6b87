#include <hip/hip_runtime.h>

// A tile of 16 by 16 over a matrix of 20 by 50 without a guard of its rows.
__global__ void doubled(const float* x, float* out, int columns) {
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    if (column < columns) out[row * columns + column] = 2 * x[row * columns + column];  // here
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    doubled<<<dim3(4, 2), dim3(16, 16), 0, stream>>>(x, out, 50);
}
