#include <hip/hip_runtime.h>

__global__ void copy(const float* x, float* out) {
    __amdgpu_buffer_rsrc_t buffer = __builtin_amdgcn_make_buffer_rsrc((void*)x, 0, 200, 0x27000);
    out[threadIdx.x] = __builtin_bit_cast(float, __builtin_amdgcn_raw_buffer_load_b32(buffer, 4 * threadIdx.x, 0, 0));
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) { copy<<<1, 64, 0, stream>>>(x, out); }
