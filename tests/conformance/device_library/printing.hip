#include <hip/hip_runtime.h>

__global__ void tell(const float* x, float* out) {
    if (threadIdx.x == 0) printf("%d blocks, %s: %f %lld %c\n", gridDim.x, "first", x[0], 7ll, 'c');
    out[threadIdx.x] = x[threadIdx.x];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    tell<<<1, 256, 0, stream>>>(x, out);
}
