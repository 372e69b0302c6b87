#include <hip/hip_runtime.h>

__global__ void copy(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
    asm volatile("s_nop 4");
    asm volatile("" : "+v"(v));
    out[i] = v;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    copy<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
}
