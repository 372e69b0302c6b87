#include <hip/hip_runtime.h>
// The mask names lanes that are in no branch with the caller: AMD's header asserts, and the wave traps.
__global__ void half(const float* x, float* out) {
    int lane = threadIdx.x;
    if (lane < 32) out[lane] = __shfl_sync(~0ull, x[lane], 0);
}

extern "C" void run(const float* x, int64_t, float* out, hipStream_t stream) { half<<<1, 64, 0, stream>>>(x, out); }
