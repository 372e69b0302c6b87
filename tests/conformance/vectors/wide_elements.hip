#include <hip/hip_runtime.h>

__global__ void wide(const double2* a, const longlong2* b, double2* sums, longlong2* products, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    double2 x = a[i];
    x.x += x.y;
    sums[i] = x * 0.5;
    longlong2 y = b[i];
    products[i] = y * make_longlong2(3000000000ll, -7) + longlong2(y.y, y.x);
}

extern "C" void run_float64(const double* a, const int64_t* b, int64_t n, int64_t, double* sums, int64_t* products, hipStream_t stream) {
    wide<<<1, 64, 0, stream>>>((const double2*)a, (const longlong2*)b, (double2*)sums, (longlong2*)products, n / 2);
}
