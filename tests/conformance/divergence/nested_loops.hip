#include <hip/hip_runtime.h>
// Shuffles between an inner loop with a length of its own for each lane and the next round of the outer one.
__global__ void nested(const int* x, int* out) {
    int lane = threadIdx.x, value = x[lane];
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < (lane * 7 + i) % 5; j++) value += __popcll(__ballot(1));
        value += __shfl(value, (lane + 1) % 64);
        value %= 10007;
    }
    out[lane] = value;
}

extern "C" void run(const int* x, int64_t, int* out, hipStream_t stream) { nested<<<1, 64, 0, stream>>>(x, out); }
