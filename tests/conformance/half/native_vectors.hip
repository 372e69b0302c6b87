#include <hip/hip_runtime.h>

typedef _Float16 half8 __attribute__((ext_vector_type(8)));
typedef float float8 __attribute__((ext_vector_type(8)));

__global__ void native(const half8* a, const half8* b, half8* out, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    half8 low = __builtin_elementwise_min(a[i], b[i]);
    half8 chosen = a[i] < b[i] ? a[i] * b[i] : a[i] + b[i];
    float8 wide = __builtin_convertvector(a[i], float8) * __builtin_convertvector(b[i], float8);
    out[i] = low;
    out[n + i] = chosen;
    out[2 * n + i] = __builtin_convertvector(wide + 1.0f, half8);
    out[3 * n + i] = __builtin_shufflevector(a[i], b[i], 7, 15, 6, 14, 5, 13, 4, 12);
}

extern "C" void run_float16(const _Float16* a, const _Float16* b, int64_t n, int64_t, _Float16* out, hipStream_t stream) {
    native<<<1, 64, 0, stream>>>((const half8*)a, (const half8*)b, (half8*)out, n / 8);
}
