#include <hip/hip_runtime.h>

__global__ void hinted(const float* __restrict__ x, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    __builtin_amdgcn_s_setprio(1);
    __builtin_amdgcn_sched_barrier(0);
    if (__builtin_expect(i < n, 1)) {
        float v = __builtin_nontemporal_load(x + i);
        __builtin_amdgcn_s_sleep(1);
        __builtin_nontemporal_store(v + __ldg(x), out + i);
    }
    __builtin_amdgcn_sched_group_barrier(2, 1, 0);
    __builtin_amdgcn_s_setprio(0);
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    hinted<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
}
