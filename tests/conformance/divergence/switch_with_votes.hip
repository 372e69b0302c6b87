#include <hip/hip_runtime.h>
// Cases of their own, one that falls through into the next, and all together after it.
__global__ void choose(const int* x, int* out) {
    int lane = threadIdx.x, result = 0;
    switch (x[lane]) {
        case 0: result = __popcll(__ballot(1)); break;
        case 1: result = 1000 * __popcll(__ballot(1));
        case 2: result += __popcll(__ballot(1)); break;
        default: result = -1;
    }
    out[lane] = result;
    out[64 + lane] = __popcll(__ballot(result > 0));
}

extern "C" void run(const int* x, int64_t, int* out, hipStream_t stream) { choose<<<1, 64, 0, stream>>>(x, out); }
