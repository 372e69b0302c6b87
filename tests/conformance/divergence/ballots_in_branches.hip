#include <hip/hip_runtime.h>
__global__ void nested(const int* x, long* out) {
    int lane = threadIdx.x;
    unsigned long long seen = 0;
    if (x[lane] > 0) {
        if (lane % 2) seen = __ballot(x[lane] > 500);
        else seen = __ballot(x[lane] <= 500);
    } else {
        seen = __ballot(1);
    }
    out[lane] = long(seen);
    out[64 + lane] = long(__ballot(1));
}

extern "C" void run(const int* x, int64_t, long* out, hipStream_t stream) { nested<<<1, 64, 0, stream>>>(x, out); }
