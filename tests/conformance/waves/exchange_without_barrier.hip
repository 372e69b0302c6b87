#include <hip/hip_runtime.h>

// Lanes of one wave exchange through LDS without a barrier of the block: they run in step.
__global__ void exchange(const float* x, float* out) {
    __shared__ float tile[4][64];
    int lane = threadIdx.x % 64, wave = threadIdx.x / 64, at = threadIdx.x;
    float value = x[at];
    for (int step = 1; step <= 4; step++) {
        tile[wave][lane] = value;
        __builtin_amdgcn_wave_barrier();
        value = 0.5f * value + 0.25f * tile[wave][(lane + step) % 64] + 0.25f * tile[wave][(lane + 64 - step) % 64];
        __builtin_amdgcn_wave_barrier();
    }
    out[at] = value;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) { exchange<<<1, n, 0, stream>>>(x, out); }
