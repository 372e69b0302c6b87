#include <hip/hip_runtime.h>

// Vectors of neighbours overlap by half.
__global__ void spread(const float* x, float* out) {
    float2 v = make_float2(x[threadIdx.x], x[threadIdx.x] + 1);
    __builtin_memcpy(out + threadIdx.x, &v, sizeof v);  // here
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    spread<<<1, 127, 0, stream>>>(x, out);
}
