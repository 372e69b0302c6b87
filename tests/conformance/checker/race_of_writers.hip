#include <hip/hip_runtime.h>

__global__ void collide(const float* x, float* out) {
    __shared__ float slot[4];
    slot[threadIdx.x % 4] = x[threadIdx.x];  // here
    __syncthreads();
    out[threadIdx.x] = slot[threadIdx.x % 4];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    collide<<<1, 256, 0, stream>>>(x, out);
}
