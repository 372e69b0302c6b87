#include <hip/hip_runtime.h>

__global__ void exchange(const float* x, float* out) {
    __shared__ float tile[128];
    tile[threadIdx.x] = x[threadIdx.x];
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
    __builtin_amdgcn_wave_barrier();
    out[threadIdx.x] = tile[threadIdx.x ^ 63];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    exchange<<<1, 128, 0, stream>>>(x, out);
}
