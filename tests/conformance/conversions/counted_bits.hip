#include <hip/hip_runtime.h>

__global__ void bits(const int64_t* x, int64_t* out, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    unsigned long long wide = (unsigned long long)x[i];
    unsigned low = (unsigned)wide, high = (unsigned)(wide >> 32);
    int64_t results[] = {__popc(low), __popcll(wide), __clz((int)low), __clzll((long long)wide), __ffs(low), __ffsll(wide), __brev(low),
                         (int64_t)__brevll(wide), __funnelshift_l(low, high, 5), __funnelshift_r(low, high, 37),
                         __funnelshift_lc(low, high, 40), __bitextract_u32(low, 3, 9), __bitinsert_u32(low, high, 4, 12)};
    for (int k = 0; k < 13; k++) out[k * n + i] = results[k];
}

extern "C" void run(const int64_t* x, int64_t n, int64_t* out, hipStream_t stream) { bits<<<1, 256, 0, stream>>>(x, out, n); }
