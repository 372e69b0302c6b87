#include <hip/hip_runtime.h>

// One wave fills slots, another takes them, by counters in shared memory.
__global__ void pass(const float* x, float* out, int rounds) {
    __shared__ float slot[64];
    __shared__ int filled, taken;
    int lane = threadIdx.x % 64;
    if (threadIdx.x == 0) filled = taken = 0;
    __syncthreads();
    for (int i = 0; i < rounds; i++) {
        if (threadIdx.x < 64) {
            while (atomicAdd(&taken, 0) < i * 64) {}
            __threadfence_block();
            slot[lane] = x[i * 64 + lane];
            __threadfence_block();
            atomicAdd(&filled, 1);
        } else {
            while (atomicAdd(&filled, 0) < (i + 1) * 64) {}
            __threadfence_block();
            out[i * 64 + lane] = slot[63 - lane];
            __threadfence_block();
            atomicAdd(&taken, 1);
        }
    }
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) { pass<<<1, 128, 0, stream>>>(x, out, n / 64); }
