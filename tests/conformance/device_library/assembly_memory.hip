#include <hip/hip_runtime.h>

__global__ void k(const float* x, float* out) {
    float v;
    asm volatile("s_nop 0\n global_load_dword %0, %1, off\n s_waitcnt vmcnt(0)" : "=v"(v) : "v"(x + threadIdx.x) : "memory");
    out[threadIdx.x] = v;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) { k<<<1, 64, 0, stream>>>(x, out); }
