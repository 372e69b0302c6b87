#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

__global__ void both(const __half* a, const __half* b, const __half* c, __half* once, __half* twice, int64_t n) {
    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    once[i] = __hfma(a[i], b[i], c[i]);
    volatile __half product = __hmul(a[i], b[i]);
    twice[i] = __hadd(__half(__half_raw(product)), c[i]);
}

extern "C" void run_float16(const __half* a, const __half* b, const __half* c, int64_t n, int64_t, int64_t, __half* once, __half* twice,
                    hipStream_t stream) {
    both<<<(n + 127) / 128, 128, 0, stream>>>(a, b, c, once, twice, n);
}
