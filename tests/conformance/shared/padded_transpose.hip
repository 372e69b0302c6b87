#include <hip/hip_runtime.h>

__global__ void transpose(const float* x, float* out, int rows, int columns) {
    __shared__ float tile[16][17];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    if (row < rows && column < columns) tile[threadIdx.y][threadIdx.x] = x[row * columns + column];
    __syncthreads();
    row = blockIdx.x * 16 + threadIdx.y, column = blockIdx.y * 16 + threadIdx.x;
    if (row < columns && column < rows) out[row * rows + column] = tile[threadIdx.x][threadIdx.y];
}

extern "C" void run(const float* x, int64_t rows, int64_t columns, float* out, hipStream_t stream) {
    transpose<<<dim3((columns + 15) / 16, (rows + 15) / 16), dim3(16, 16), 0, stream>>>(x, out, rows, columns);
}
