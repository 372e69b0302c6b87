#include <hip/hip_runtime.h>
// v_readlane_b32 reads a register of a lane that is switched off: what is in it, only the hardware knows.
__global__ void half(const float* x, float* out) {
    int lane = threadIdx.x;
    if (lane < 32) out[lane] = __int_as_float(__builtin_amdgcn_readlane(__float_as_int(x[lane]), 40));
    else out[lane] = 0;
}

extern "C" void run(const float* x, int64_t, float* out, hipStream_t stream) { half<<<1, 64, 0, stream>>>(x, out); }
