#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>

__global__ void start(__half2* out) { *out = __float2half2_rn(0.0f); }
__global__ void count(__half2* out) { unsafeAtomicAdd(out, __floats2half2_rn(1.0f, 2.0f)); }

extern "C" void run(const float* x, int64_t n, __half2* out, hipStream_t stream) {
    start<<<1, 1, 0, stream>>>(out);
    count<<<2, 96, 0, stream>>>(out);
}
