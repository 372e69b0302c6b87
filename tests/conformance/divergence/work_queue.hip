#include <hip/hip_runtime.h>
// Lanes take pieces of uneven length from one queue until it is empty; one atomic a round and wave.
__global__ void work(const int* lengths, int* done, int* next, int n) {
    int lane = __lane_id(), mine = -1, left = 0;
    while (true) {
        unsigned long long idle = __ballot(left == 0);
        if (left == 0) {
            int start = 0, leader = __ffsll(idle) - 1;
            if (lane == leader) start = atomicAdd(next, __popcll(idle));
            start = __shfl(start, leader);
            mine = start + __popcll(idle & ((1ull << lane) - 1));
            left = mine < n ? lengths[mine] : -1;
        }
        if (__all(left < 0)) break;
        if (left > 0 && --left == 0) done[mine] = 3 * lengths[mine] + 1;
    }
}

extern "C" void run(const int* lengths, int64_t n, int* done, int* next, hipStream_t stream) {
    hipMemsetAsync(next, 0, 4, stream);
    work<<<2, 64, 0, stream>>>(lengths, done, next, n);
}
