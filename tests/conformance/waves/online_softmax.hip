#include <hip/hip_runtime.h>
// A row a wave: maximum and sum travel together.
__global__ void softmax(const float* x, float* out, int columns) {
    const float* row = x + blockIdx.x * columns;
    float most = -INFINITY, sum = 0;
    for (int i = threadIdx.x; i < columns; i += 64) {
        float now = fmaxf(most, row[i]);
        sum = sum * __expf(most - now) + __expf(row[i] - now);
        most = now;
    }
    for (int step = 32; step; step /= 2) {
        float other = __shfl_xor(most, step), others = __shfl_xor(sum, step), now = fmaxf(most, other);
        sum = sum * __expf(most - now) + others * __expf(other - now);
        most = now;
    }
    for (int i = threadIdx.x; i < columns; i += 64) out[blockIdx.x * columns + i] = __expf(row[i] - most) / sum;
}

extern "C" void run(const float* x, int64_t rows, int64_t columns, float* out, hipStream_t stream) {
    softmax<<<rows, 64, 0, stream>>>(x, out, columns);
}
