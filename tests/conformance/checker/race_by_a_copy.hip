#include <hip/hip_runtime.h>

struct Row {
    float of[24];
};

// Rows are passed on to the next block.
__global__ void pass(const float* x, Row* rows) {
    int t = threadIdx.x, b = blockIdx.x;
    if (t < 24) rows[b].of[t] = x[24 * b + t];  // here
    __syncthreads();
    if (t == 0) rows[b] = rows[b ^ 1];  // here
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    pass<<<4, 64, 0, stream>>>(x, reinterpret_cast<Row*>(out));
}
