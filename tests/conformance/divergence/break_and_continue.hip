#include <hip/hip_runtime.h>
__global__ void loop(const int* x, int* out) {
    int lane = threadIdx.x, sum = 0;
    for (int i = 0; i < 12; i++) {
        if (i > x[lane]) break;
        if ((i + lane) % 3 == 0) continue;
        sum += __popcll(__ballot(1));
    }
    out[lane] = sum;
    out[64 + lane] = __popcll(__ballot(1));
}

extern "C" void run(const int* x, int64_t, int* out, hipStream_t stream) { loop<<<1, 64, 0, stream>>>(x, out); }
