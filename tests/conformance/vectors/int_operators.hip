#include <hip/hip_runtime.h>

__global__ void operators(const int4* a, const int4* b, int4* out, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    int4 x = a[i], y = b[i], z = x;
    z ^= y;
    z <<= make_int4(1, 2, 3, 4);
    out[i] = z;
    out[n + i] = (x & y) | ~x;
    out[2 * n + i] = x % y + x / y;
    out[3 * n + i] = x >> make_int4(1, 2, 3, 4);
    z = x++;
    out[4 * n + i] = z - x;
    out[5 * n + i] = --z;
}

extern "C" void run(const int* a, const int* b, int64_t n, int64_t, int* out, hipStream_t stream) {
    operators<<<1, 64, 0, stream>>>((const int4*)a, (const int4*)b, (int4*)out, n / 4);
}
