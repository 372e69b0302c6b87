#include "streams.h"

__global__ void add(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += x[i];  // here
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    hipStream_t side = apart();
    (void)hipMemsetAsync(out, 0, n * sizeof(float), stream);
    add<<<(n + 255) / 256, 256, 0, side>>>(x, out, n);
    (void)hipStreamSynchronize(side);
}
