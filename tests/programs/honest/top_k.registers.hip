// Each lane keeps its own four, the wave takes the best head four times.
#include <hip/hip_runtime.h>
constexpr int K = 4;

__global__ void topk(const float* x, float* y, int cols) {
    const int lane = threadIdx.x;
    float best[K];
#pragma unroll
    for (int i = 0; i < K; i++) best[i] = -INFINITY;
    for (int c = lane; c < cols; c += 64) {
        float v = x[blockIdx.x * cols + c];
#pragma unroll
        for (int i = 0; i < K; i++)
            if (v > best[i]) {
                const float t = best[i];
                best[i] = v;
                v = t;
            }
    }
    for (int i = 0; i < K; i++) {
        float top = best[0];
        for (int o = 32; o; o >>= 1) top = fmaxf(top, __shfl_xor(top, o));
        const unsigned long long who = __ballot(best[0] == top);
        if (lane == __ffsll(who) - 1) {
            y[blockIdx.x * K + i] = top;
            for (int j = 0; j + 1 < K; j++) best[j] = best[j + 1];
            best[K - 1] = -INFINITY;
        }
    }
}

extern "C" void run(const float* x, int64_t rows, int64_t cols, float* out, hipStream_t s) { topk<<<rows, 64, 0, s>>>(x, out, cols); }
