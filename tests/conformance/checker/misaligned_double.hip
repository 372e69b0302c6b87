#include <hip/hip_runtime.h>

__global__ void copy(const float* x, double* out) {
    out[threadIdx.x] = *reinterpret_cast<const double*>(x + 1 + 2 * threadIdx.x);  // here
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    copy<<<1, 64, 0, stream>>>(x, reinterpret_cast<double*>(out));
}
