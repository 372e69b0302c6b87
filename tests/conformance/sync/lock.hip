#include <hip/hip_runtime.h>

__device__ int lock;
__device__ int total;
__global__ void add(const int* x) {
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {}
        __threadfence();
        volatile int* sum = &total;
        *sum = *sum + x[blockIdx.x];
        __threadfence();
        atomicExch(&lock, 0);
    }
}
__global__ void tell(int* out) { *out = total; }

extern "C" void run(const int* x, int64_t n, int* out, hipStream_t stream) {
    add<<<32, 64, 0, stream>>>(x);
    tell<<<1, 1, 0, stream>>>(out);
}
