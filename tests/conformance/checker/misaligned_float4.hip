#include <hip/hip_runtime.h>

__global__ void copy(const float* x, float* out) {
    float4 v = *reinterpret_cast<const float4*>(reinterpret_cast<const char*>(x) + 2 + 16 * threadIdx.x);  // here
    out[threadIdx.x] = v.x + v.y + v.z + v.w;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    copy<<<1, 64, 0, stream>>>(x, out);
}
