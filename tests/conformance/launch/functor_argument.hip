#include <hip/hip_runtime.h>

struct Scale {
    float by;
    __device__ float operator()(float v) const { return v * by; }
};
template <typename F, int kTimes>
__global__ void apply(const float* x, float* out, int64_t n, F f) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    for (int k = 0; k < kTimes; k++) v = f(v);
    out[i] = v;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    apply<Scale, 2><<<(n + 255) / 256, 256, 0, stream>>>(x, out, n, {0.5f});
}
