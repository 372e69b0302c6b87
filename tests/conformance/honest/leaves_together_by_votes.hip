#include <hip/hip_runtime.h>

// A block that leaves its loop when no thread has anything left to do.
__global__ void steps(const float* x, float* out, int n) {
    __shared__ int left;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0;
    for (;;) {
        if (threadIdx.x == 0) left = 0;
        __syncthreads();
        if (v > 1) left = 1;
        __syncthreads();
        if (!left) break;
        v = v > 1 ? v - 1 : v;
        __syncthreads();
    }
    while (__syncthreads_or(v < -1)) v = v < -1 ? v + 1 : v;
    if (i < n) out[i] = v;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    steps<<<(n + 127) / 128, 128, 0, stream>>>(x, out, n);
}
