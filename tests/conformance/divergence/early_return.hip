#include <hip/hip_runtime.h>
// Lanes that have returned vote no more, and nobody waits for them.
__global__ void leave(const int* x, int* out, long* masks) {
    int lane = threadIdx.x;
    out[lane] = -1;
    masks[lane] = 0;
    if (x[lane] < 0) return;
    unsigned long long here = __ballot(1);
    if (lane % 3 == 0) return;
    masks[lane] = long(here ^ __ballot(1));
    out[lane] = __shfl(x[lane], __ffsll(__ballot(1)) - 1);
}

extern "C" void run(const int* x, int64_t, int* out, long* masks, hipStream_t stream) {
    leave<<<1, 64, 0, stream>>>(x, out, masks);
}
