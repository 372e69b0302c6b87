#include <hip/hip_runtime.h>

__device__ bool ready() {
    __syncthreads();  // here
    return true;
}
__global__ void wait(const float* x, float* out) {
    out[threadIdx.x] = x[threadIdx.x] > 0 && ready() ? 1 : 0;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    wait<<<1, 64, 0, stream>>>(x, out);
}
