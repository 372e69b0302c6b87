#include "streams.h"

__global__ void part(const float* x, float* y, int from, int to, float by) {
    int i = from + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < to) y[i] = x[i] * by;  // here
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t) {
    hipStream_t one, other;
    (void)hipStreamCreate(&one);
    (void)hipStreamCreate(&other);
    part<<<2, 256, 0, one>>>(x, out, 0, 501, 2);
    part<<<2, 256, 0, other>>>(x, out, 500, n, 3);
}
