#include <hip/hip_runtime.h>
// The vote behind && and ?: is taken by the lanes that come to it.
__global__ void lazy(const int* x, int* out) {
    int lane = threadIdx.x;
    bool both = x[lane] > 0 && __popcll(__ballot(1)) > 20;
    out[lane] = both + 10 * (x[lane] % 2 ? __popcll(__ballot(1)) : 0);
}

extern "C" void run(const int* x, int64_t, int* out, hipStream_t stream) { lazy<<<1, 64, 0, stream>>>(x, out); }
