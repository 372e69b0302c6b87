#include <hip/hip_runtime.h>

__global__ void hints(const float* x, float* out) {
    __shared__ float shared[256];
    int t = threadIdx.x;
    shared[t] = x[t];
    asm volatile("s_waitcnt lgkmcnt(0)\n\ts_barrier" ::: "memory");
    asm volatile("; a comment\n// another\n/* and one more */ s_nop 0 ; v_mov_b32 v0, v1");
    asm volatile("s_setprio 3\n s_sleep 1\n v_nop\n s_setprio 0");
    asm volatile("buffer_wbl2 sc1\n s_waitcnt vmcnt(0)\n buffer_inv sc1");
    asm volatile("s_icache_inv\n s_dcache_wb");
    out[t] = shared[255 - t];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) { hints<<<1, 256, 0, stream>>>(x, out); }
