#include <hip/hip_runtime.h>

__global__ void store(const float* x, float* out) {
    *reinterpret_cast<double*>(out + 2 * threadIdx.x + 1) = x[threadIdx.x];  // here
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    store<<<1, 32, 0, stream>>>(x, out);
}
