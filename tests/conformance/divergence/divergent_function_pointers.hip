#include <hip/hip_runtime.h>
// Lanes call different functions through a pointer, which call one that votes.
__device__ __noinline__ int count(int weight) { return __popcll(__ballot(1)) * weight; }
__device__ __noinline__ int once(int x) { return count(1) + x; }
__device__ __noinline__ int twice(int x) { return count(1) + count(100) + x; }

__global__ void calls(const int* x, int* out) {
    int (*chosen)(int) = x[threadIdx.x] % 3 == 0 ? once : twice;
    out[threadIdx.x] = chosen(x[threadIdx.x]);
}

extern "C" void run(const int* x, int64_t, int* out, hipStream_t stream) { calls<<<1, 64, 0, stream>>>(x, out); }
