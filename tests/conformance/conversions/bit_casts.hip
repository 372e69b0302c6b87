#include <hip/hip_runtime.h>

__global__ void casts(const double* x, int64_t* out, double* doubles, float* floats, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    out[i] = __double_as_longlong(x[i]);
    out[n + i] = __double2hiint(x[i]);
    out[2 * n + i] = __double2loint(x[i]);
    out[3 * n + i] = __float_as_int((float)x[i]);
    doubles[i] = __longlong_as_double(__double_as_longlong(x[i]) ^ (1ll << 63));
    doubles[n + i] = __hiloint2double(__double2hiint(x[i]), 0);
    floats[i] = __int_as_float(__float_as_int((float)x[i]) & 0x7fffffff);
    floats[n + i] = __double2float_rd(x[i]);
    floats[2 * n + i] = __double2float_ru(x[i]);
    floats[3 * n + i] = __double2float_rz(x[i]);
}

extern "C" void run_float64(const double* x, int64_t n, int64_t* out, double* doubles, float* floats, hipStream_t stream) {
    casts<<<1, 256, 0, stream>>>(x, out, doubles, floats, n);
}
