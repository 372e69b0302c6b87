#include <hip/hip_runtime.h>
// Each lane goes as deep as it must; those at one depth vote together.
__device__ __noinline__ int descend(int depth) {
    int here = __popcll(__ballot(1));
    return depth == 0 ? here : here + 100 * descend(depth - 1);
}

__global__ void recurse(const int* x, int* out) { out[threadIdx.x] = descend(x[threadIdx.x]); }

extern "C" void run(const int* x, int64_t, int* out, hipStream_t stream) { recurse<<<1, 64, 0, stream>>>(x, out); }
