#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

__global__ void widen(const __half2* x, float2* out, int64_t pairs) {
    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pairs) out[i] = __half22float2(x[i]);
}

extern "C" void run_float16(const __half* x, int64_t n, float* out, hipStream_t stream) {
    widen<<<n / 2 / 256, 256, 0, stream>>>(reinterpret_cast<const __half2*>(x), reinterpret_cast<float2*>(out), n / 2);
}
