#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

__global__ void pack(const float2* x, unsigned* out, int64_t n) {
    int64_t i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n) out[i] = __builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_pkrtz(x[i].x, x[i].y));
}

extern "C" void run(const float* x, int64_t n, _Float16* out, hipStream_t stream) {
    pack<<<(n / 2 + 255) / 256, 256, 0, stream>>>((const float2*)x, (unsigned*)out, n / 2);
}
