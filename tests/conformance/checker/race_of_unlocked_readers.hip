#include <hip/hip_runtime.h>

// Writers take the lock, the reader does not.
__device__ int lock;
__global__ void add(const float* x, float* out) {
    if (threadIdx.x) return;
    while (atomicCAS(&lock, 0, 1) != 0) {}
    out[0] = out[0] + x[blockIdx.x];  // here
    atomicExch(&lock, 0);
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    hipMemsetAsync(out, 0, n * sizeof(float), stream);
    add<<<4, 64, 0, stream>>>(x, out);
}
