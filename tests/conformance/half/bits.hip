#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

// The next number upwards, by its bits; and the sign flipped through a union of a packed pair.
__global__ void bits(const __half* x, __half* next, __half* flipped, int64_t n) {
    int64_t i = threadIdx.x;
    if (i < n) next[i] = __short_as_half(__half_as_short(x[i]) + 1);
    if (i < n / 2) {
        union { unsigned word; __half2 pair; } both;
        both.pair = reinterpret_cast<const __half2*>(x)[i];
        both.word ^= 0x80008000u;
        reinterpret_cast<__half2*>(flipped)[i] = both.pair;
    }
}

extern "C" void run_float16(const __half* x, int64_t n, __half* next, __half* flipped, hipStream_t stream) {
    bits<<<1, 256, 0, stream>>>(x, next, flipped, n);
}
