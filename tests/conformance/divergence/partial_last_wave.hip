#include <hip/hip_runtime.h>
// 100 threads are a wave and 36 lanes of another.
__global__ void partial(const int* x, int* out, long* masks) {
    int at = threadIdx.x, sum = x[at];
    masks[at] = long(__ballot(x[at] > 0));
    for (int step = 32; step; step /= 2) {
        int from = at % 64 + step;
        int other = __shfl_down(sum, step);
        if (at / 64 * 64 + from < 100 && from < 64) sum += other;
    }
    out[at] = __shfl(sum, 0) + 10000 * (__all(x[at] > -1000) != 0);
}

extern "C" void run(const int* x, int64_t n, int* out, long* masks, hipStream_t stream) {
    partial<<<1, n, 0, stream>>>(x, out, masks);
}
