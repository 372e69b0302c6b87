#include <hip/hip_runtime.h>
// gfx950: odd rows of the first operand change places with even rows of the second.
__global__ void swap(const unsigned* a, const unsigned* b, unsigned* out) {
    int lane = threadIdx.x;
    auto halves = __builtin_amdgcn_permlane32_swap(a[lane], b[lane], false, false);
    out[lane] = halves[0];
    out[64 + lane] = halves[1];
    auto rows = __builtin_amdgcn_permlane16_swap(a[lane], b[lane], false, false);
    out[128 + lane] = rows[0];
    out[192 + lane] = rows[1];
}

extern "C" void run(const unsigned* a, const unsigned* b, int64_t, int64_t, unsigned* out, hipStream_t stream) {
    swap<<<1, 64, 0, stream>>>(a, b, out);
}
