#include <hip/hip_runtime.h>

__device__ __noinline__ void wait() { __syncthreads(); }  // here
__device__ __noinline__ void wait_twice(float* tile) {
    wait();
    tile[threadIdx.x] += 1;
    wait();
}

__global__ void steps(const float* x, float* out, int from) {
    __shared__ float tile[64];
    tile[threadIdx.x] = x[threadIdx.x];
    if (int(threadIdx.x) < from) wait_twice(tile);
    else {
        wait();
        wait();
    }
    out[threadIdx.x] = tile[threadIdx.x];
}

extern "C" void run(const float* x, int64_t from, int64_t n, float* out, hipStream_t stream) {
    steps<<<1, 64, 0, stream>>>(x, out, from);
}
