#include <hip/hip_runtime.h>

__global__ void integers(const int* x, const int* y, int* out, int64_t* wide, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    int a = x[i], b = y[i];
    unsigned ua = (unsigned)a, ub = (unsigned)b;
    int results[] = {min(a, b), max(a, b), (int)min(ua, ub), abs(a), __mulhi(a, b), (int)__umulhi(ua, ub), __mul24(a, b),
                     (int)__umul24(ua, ub), __hadd(a, b), __rhadd(a, b), (int)__uhadd(ua, ub), (int)__urhadd(ua, ub),
                     (int)__sad(a, b, 5), (int)__usad(ua, ub, 5), (int)(ua % 7u), a / 3};
    for (int k = 0; k < 16; k++) out[k * n + i] = results[k];
    long long p = (long long)a * 1000003 * b, q = (long long)b * 99991 + a;
    wide[i] = __mul64hi(p, q);
    wide[n + i] = (long long)__umul64hi((unsigned long long)p, (unsigned long long)q);
    wide[2 * n + i] = llabs(p);
    wide[3 * n + i] = min(p, q);
}

extern "C" void run(const int* x, const int* y, int64_t n, int64_t, int* out, int64_t* wide, hipStream_t stream) {
    integers<<<1, 256, 0, stream>>>(x, y, out, wide, n);
}
