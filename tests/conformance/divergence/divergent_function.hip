#include <hip/hip_runtime.h>
// One function, not inlined, called from two branches and from a loop: those in one call are together.
__device__ __noinline__ int count(int weight) { return __popcll(__ballot(1)) * weight; }

__global__ void calls(const int* x, int* out) {
    int lane = threadIdx.x, sum = 0;
    if (x[lane] > 0) sum = count(1);
    else sum = count(100);
    for (int i = 0; i < lane % 4; i++) sum += count(10000);
    out[lane] = sum;
}

extern "C" void run(const int* x, int64_t, int* out, hipStream_t stream) { calls<<<1, 64, 0, stream>>>(x, out); }
