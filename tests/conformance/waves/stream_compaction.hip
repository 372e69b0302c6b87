#include <hip/hip_runtime.h>
// mbcnt counts the chosen lanes below one's own.
__global__ void keep(const int* x, int* out, int* counts) {
    int at = blockIdx.x * 64 + threadIdx.x;
    bool chosen = x[at] % 3 == 0;
    unsigned long long mask = __ballot(chosen);
    unsigned below = __builtin_amdgcn_mbcnt_hi(unsigned(mask >> 32), __builtin_amdgcn_mbcnt_lo(unsigned(mask), 0));
    out[at] = 0;
    __syncthreads();
    if (chosen) out[blockIdx.x * 64 + below] = x[at];
    if (threadIdx.x == 0) counts[blockIdx.x] = __popcll(mask);
}

extern "C" void run(const int* x, int64_t n, int* out, int* counts, hipStream_t stream) {
    keep<<<n / 64, 64, 0, stream>>>(x, out, counts);
}
