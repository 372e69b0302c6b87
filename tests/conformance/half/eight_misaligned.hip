#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

__global__ void first(const __half* x, float* out) {
    float4 eight = *reinterpret_cast<const float4*>(x + 1 + 8 * threadIdx.x);  // here
    out[threadIdx.x] = eight.x;
}

extern "C" void run_float16(const __half* x, int64_t n, float* out, hipStream_t stream) {
    first<<<1, 32, 0, stream>>>(x, out);
}
