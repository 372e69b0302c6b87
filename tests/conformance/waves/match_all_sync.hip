#include <hip/hip_runtime.h>
__global__ void match(const int* x, long* out, int* agreed) {
    int lane = threadIdx.x;
    unsigned long long quarter = 0xffffull << (lane / 16 * 16);
    int all = -1;
    out[lane] = long(__match_all_sync(quarter, x[lane], &all));
    agreed[lane] = all;
    out[64 + lane] = long(__match_any_sync(quarter, x[lane] & 1));
}

extern "C" void run(const int* x, int64_t, long* out, int* agreed, hipStream_t stream) {
    match<<<1, 64, 0, stream>>>(x, out, agreed);
}
