#include <hip/hip_runtime.h>

// First, last, next and previous lane of a mask of 64; leading lanes of runs of equal keys.
__global__ void masks(const int* x, int* out) {
    int lane = threadIdx.x;
    unsigned long long mask = __ballot(x[lane] > 300), below = mask & ((1ull << lane) - 1), above = mask & (~1ull << lane);
    out[lane] = __ffsll(mask) - 1;
    out[64 + lane] = 63 - __clzll(mask);
    out[128 + lane] = above ? __ffsll(above) - 1 : 64;
    out[192 + lane] = below ? 63 - __clzll(below) : -1;
    out[256 + lane] = __popcll(__brevll(mask) >> (63 - lane));
    unsigned long long heads = __ballot(lane == 0 || x[lane] / 500 != __shfl_up(x[lane] / 500, 1));
    out[320 + lane] = 63 - __clzll(heads & (~0ull >> (63 - lane)));
}

extern "C" void run(const int* x, int64_t, int* out, hipStream_t stream) { masks<<<1, 64, 0, stream>>>(x, out); }
