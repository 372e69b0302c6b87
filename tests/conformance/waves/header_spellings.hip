#include <hip/hip_runtime.h>

// AMD's header has names of its own for the instructions.
__global__ void spellings(const float* x, const unsigned* u, float* out, unsigned* words) {
    int lane = threadIdx.x, to = lane * 5 % 64;
    out[lane] = __hip_ds_bpermutef(to * 4, x[lane]);
    out[64 + lane] = __hip_ds_permutef(to * 4, x[lane]);
    out[128 + lane] = __hip_ds_swizzlef(x[lane], 0x041f);
    words[lane] = __hip_ds_bpermute(to * 4, u[lane]);
    words[64 + lane] = __hip_ds_permute(to * 4, u[lane]);
    words[128 + lane] = __hip_ds_swizzle(u[lane], 0x041f);
}

extern "C" void run(const float* x, const unsigned* u, int64_t, int64_t, float* out, unsigned* words, hipStream_t stream) {
    spellings<<<1, 64, 0, stream>>>(x, u, out, words);
}
