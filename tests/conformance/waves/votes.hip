#include <hip/hip_runtime.h>
// A wave has 64 lanes: bit 63 of a ballot is a lane.
__global__ void vote(const int* x, long* ballots, int* votes) {
    int at = blockIdx.x * 64 + threadIdx.x;
    ballots[at] = long(__ballot(x[at] > 0));
    votes[at] = 4 * (__any(x[at] > 90) != 0) + 2 * (__all(x[at] > -90) != 0) + (__activemask() == ~0ull);
}

extern "C" void run(const int* x, int64_t n, long* ballots, int* votes, hipStream_t stream) {
    vote<<<n / 64, 64, 0, stream>>>(x, ballots, votes);
}
