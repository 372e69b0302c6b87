#include <hip/hip_runtime.h>

__global__ void pick(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    float kept[4], chosen;
    for (int k = 0; k <= i % 4; k++) kept[k] = x[i % n] * k;
    switch (i % 3) {
        case 0: chosen = 1; break;
        case 1: chosen = 2; break;
        default: chosen = 3;
    }
    if (i < n) out[i] = kept[i % 4] + chosen;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    pick<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
}
