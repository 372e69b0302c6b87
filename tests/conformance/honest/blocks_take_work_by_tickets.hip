#include <hip/hip_runtime.h>

__device__ int next;
__global__ void work(const float* x, float* out, int chunks) {
    __shared__ int mine;
    for (;;) {
        if (threadIdx.x == 0) mine = atomicAdd(&next, 1);
        __syncthreads();
        int chunk = mine;
        __syncthreads();
        if (chunk >= chunks) return;
        out[chunk * 64 + threadIdx.x] = x[chunk * 64 + threadIdx.x] * 3;
    }
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    work<<<3, 64, 0, stream>>>(x, out, int(n / 64));
}
