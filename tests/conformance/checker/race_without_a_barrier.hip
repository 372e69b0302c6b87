#include <hip/hip_runtime.h>

__global__ void reverse(const float* x, float* out) {
    __shared__ float tile[256];
    tile[threadIdx.x] = x[threadIdx.x];  // here
    out[threadIdx.x] = tile[255 - threadIdx.x];  // here
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    reverse<<<1, 256, 0, stream>>>(x, out);
}
