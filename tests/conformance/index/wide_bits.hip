#include <hip/hip_runtime.h>

__global__ void bits(const long* x, long* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    unsigned long long u = x[i];
    unsigned at = i % 60;
    out[i] = __clzll(x[i]);
    out[n + i] = __ffsll((long long)x[i]);
    out[2 * n + i] = __brevll(u);
    out[3 * n + i] = __popcll(u);
    out[4 * n + i] = __bitextract_u64(u, at, 5);
    out[5 * n + i] = __bitinsert_u64(0, u, at, 4);
    out[6 * n + i] = __mul64hi(x[i], 1ll << 40);
}

extern "C" void run(const long* x, int64_t n, long* out, hipStream_t stream) {
    bits<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
}
