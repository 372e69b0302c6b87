#include <hip/hip_runtime.h>

__device__ int lock;
__global__ void add(const float* x, float* out) {
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {}
        __threadfence();
        out[0] += x[blockIdx.x];
        __threadfence();
        atomicExch(&lock, 0);
    }
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    hipMemsetAsync(out, 0, sizeof(float), stream);
    add<<<n, 64, 0, stream>>>(x, out);
}
