#include <hip/hip_bf16.h>
#include <hip/hip_runtime.h>

typedef __bf16 bf16x8 __attribute__((ext_vector_type(8)));
typedef float f32x8 __attribute__((ext_vector_type(8)));

// The compiler's own type: an operation rounds, a conversion of a vector does too.
__global__ void native(const bf16x8* a, const bf16x8* b, bf16x8* out, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    out[i] = a[i] * b[i];
    f32x8 sum = __builtin_convertvector(a[i], f32x8) * 3.0f + __builtin_convertvector(b[i], f32x8);
    out[n + i] = __builtin_convertvector(sum, bf16x8);
    bf16x8 least;
    for (int k = 0; k < 8; k++) least[k] = a[i][k] < b[i][k] ? a[i][k] : b[i][k];
    out[2 * n + i] = least;
}

extern "C" void run(const short* a, const short* b, int64_t n, int64_t, short* out, hipStream_t stream) {
    native<<<1, 64, 0, stream>>>((const bf16x8*)a, (const bf16x8*)b, (bf16x8*)out, n / 8);
}
