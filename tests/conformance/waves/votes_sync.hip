#include <hip/hip_runtime.h>
// Masks that differ between lanes split the wave, without a branch.
__global__ void vote(const int* x, long* out) {
    int lane = threadIdx.x;
    unsigned long long even = 0x5555555555555555ull, mine = lane % 2 ? even << 1 : even;
    out[lane] = long(__ballot_sync(mine, x[lane] > 0));
    out[64 + lane] = __any_sync(mine, x[lane] == 1000) != 0;
    out[128 + lane] = __all_sync(mine, x[lane] >= -500) != 0;
}

extern "C" void run(const int* x, int64_t, long* out, hipStream_t stream) { vote<<<1, 64, 0, stream>>>(x, out); }
