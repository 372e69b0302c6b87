#include <hip/hip_runtime.h>

__global__ void copy(const float* from, float* to) {
    float2 pair = *reinterpret_cast<const float2*>(reinterpret_cast<const char*>(from) + 2 + 8 * threadIdx.x);  // here
    to[threadIdx.x] = pair.x;
}

extern "C" void run(const float* from, int64_t n, float* to, hipStream_t stream) { copy<<<1, 32, 0, stream>>>(from, to); }
