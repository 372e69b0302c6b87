#include <hip/hip_runtime.h>

__global__ void transpose(const float* x, float* out, int rows, int columns) {
    int row = blockIdx.x, column = threadIdx.x;
    out[column * columns + row] = x[row * columns + column];  // here
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    transpose<<<25, 40, 0, stream>>>(x, out, 25, 40);
}
