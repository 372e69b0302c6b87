#include <hip/hip_runtime.h>

// The first block that comes makes the table; those that see its flag read it.
__device__ int state;
__device__ float table[64];
__global__ void lazily(const float* x, float* out) {
    volatile int* seen = &state;
    __shared__ int ready;
    if (threadIdx.x == 0) {
        if (*seen != 2 && atomicCAS(&state, 0, 1) == 0) {
            for (int k = 0; k < 64; k++) table[k] = 2 * k;
            __threadfence();
            atomicExch(&state, 2);
        }
        while (*seen != 2) {}
        __threadfence();
        ready = 1;
    }
    __syncthreads();
    int i = blockIdx.x * 64 + threadIdx.x;
    out[i] = x[i] + table[threadIdx.x] + ready;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    lazily<<<n / 64, 64, 0, stream>>>(x, out);
}
