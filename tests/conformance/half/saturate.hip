#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

__global__ void saturate(const __half* a, const __half* b, __half* out, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    out[i] = __hadd_sat(a[i], b[i]);
    out[n + i] = __hsub_sat(a[i], b[i]);
    out[2 * n + i] = __hmul_sat(a[i], b[i]);
    out[3 * n + i] = __hfma_sat(a[i], b[i], b[i]);
}

extern "C" void run_float16(const __half* a, const __half* b, int64_t n, int64_t, __half* out, hipStream_t stream) {
    saturate<<<1, 256, 0, stream>>>(a, b, out, n);
}
