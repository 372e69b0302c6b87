#include <hip/hip_runtime.h>

struct Powers {
    int of[8];
    constexpr Powers() : of() {
        for (int k = 0, p = 1; k < 8; k++, p *= 3) of[k] = p;
    }
};
__device__ constexpr Powers powers;
__global__ void scale(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = x[i] * powers.of[i % 8];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    scale<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
}
