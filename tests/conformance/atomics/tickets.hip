#include <hip/hip_runtime.h>

__global__ void start(int* next) { *next = 0; }
__global__ void take(int* next, int* out) {
    // Who takes which ticket is not said; that each is taken once is.
    out[atomicAdd(next, 1)] = 1;
}

extern "C" void run(const int* x, int64_t n, int* out, hipStream_t stream) {
    int* next;
    hipMalloc(&next, sizeof *next);
    start<<<1, 1, 0, stream>>>(next);
    take<<<4, 50, 0, stream>>>(next, out);
    hipFree(next);
}
