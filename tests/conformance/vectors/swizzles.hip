#include <hip/hip_runtime.h>

typedef float f4 __attribute__((ext_vector_type(4)));
typedef int i4 __attribute__((ext_vector_type(4)));

// Clang's own vectors: members in any order, halves, selection by a comparison.
__global__ void swizzles(const f4* a, f4* out, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    f4 x = a[i], y = x.wzyx;
    out[i] = y;
    y.xz = x.yy;
    y.hi *= 2.0f;
    out[n + i] = y;
    i4 positive = x > 0.0f;
    out[2 * n + i] = positive ? x : -x.yxwz;
    out[3 * n + i] = __builtin_shufflevector(x, y, 0, 4, 3, 7);
    out[4 * n + i] = __builtin_convertvector(-positive, f4);
}

extern "C" void run(const float* a, int64_t n, float* out, hipStream_t stream) {
    swizzles<<<1, 64, 0, stream>>>((const f4*)a, (f4*)out, n / 4);
}
