#include <hip/hip_runtime.h>

// x x; the tile of the first factor is transposed on its way into LDS.
template <int kWidth>
__global__ void product(const float* x, float* out, int n) {
    __shared__ float a[16][kWidth], b[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        a[threadIdx.x][threadIdx.y] = x[row * n + k + threadIdx.x];
        b[threadIdx.y][threadIdx.x] = x[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += a[i][threadIdx.y] * b[i][threadIdx.x];
        __syncthreads();
    }
    out[row * n + column] = sum;
}

template <int kWidth>
void multiply(const float* x, int64_t n, float* out, hipStream_t stream) {
    product<kWidth><<<dim3(n / 16, n / 16), dim3(16, 16), 0, stream>>>(x, out, n);
}
