#include <hip/hip_runtime.h>
// ds_bpermute_b32 gives 0 for a lane that is switched off (AMD's ISA).
__global__ void half(const int* x, int* out) {
    int lane = threadIdx.x;
    out[lane] = -1;
    if (lane % 2) out[lane] = __shfl(x[lane], lane / 2 * 2) + __shfl_xor(x[lane], 2);
}

extern "C" void run(const int* x, int64_t, int* out, hipStream_t stream) { half<<<1, 64, 0, stream>>>(x, out); }
