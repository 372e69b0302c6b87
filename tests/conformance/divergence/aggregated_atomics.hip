#include <hip/hip_runtime.h>
// One atomic for all lanes of a wave that want a place.
__device__ int take(int* counter) {
    unsigned long long here = __ballot(1);
    int leader = __ffsll(here) - 1, lane = __lane_id(), start = 0;
    if (lane == leader) start = atomicAdd(counter, __popcll(here));
    return __shfl(start, leader) + __popcll(here & ((1ull << lane) - 1));
}

__global__ void select(const int* x, int* out, int* counter) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (x[at] > 0) out[blockIdx.x * blockDim.x + take(counter + blockIdx.x)] = x[at];
}

extern "C" void run(const int* x, int64_t n, int* out, int* counter, hipStream_t stream) {
    hipMemsetAsync(counter, 0, n / 64 * 4, stream);
    hipMemsetAsync(out, 0, n * 4, stream);
    select<<<n / 64, 64, 0, stream>>>(x, out, counter);
}
