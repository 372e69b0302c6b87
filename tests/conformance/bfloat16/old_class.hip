#include <hip/hip_bfloat16.h>
#include <hip/hip_runtime.h>

// hip_bfloat16, the older class: rounding and truncating constructors, arithmetic that rounds each result.
__global__ void old(const float* a, const float* b, hip_bfloat16* out, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    hip_bfloat16 x(a[i]), y = hip_bfloat16::round_to_bfloat16(b[i]);
    out[i] = x;
    out[n + i] = hip_bfloat16(a[i], hip_bfloat16::truncate);
    out[2 * n + i] = x + y;
    out[3 * n + i] = x * y;
    out[4 * n + i] = hip_bfloat16(x < y ? 1.0f : -1.0f);
}

extern "C" void run(const float* a, const float* b, int64_t n, int64_t, short* out, hipStream_t stream) {
    old<<<1, 256, 0, stream>>>(a, b, (hip_bfloat16*)out, n);
}
