#include <hip/hip_runtime.h>

__global__ void sum(const float* begin, const float* end, float* out) {
    float total = 0;
    for (const float* at = begin; at != end; at++) total += *at;
    out[0] = total;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    sum<<<1, 1, 0, stream>>>(x, x + n, out);
}
