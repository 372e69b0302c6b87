#include <hip/hip_runtime.h>
// What would come from outside the segment is the lane's own value.
__global__ void shift(const double* x, double* out, int width) {
    int lane = threadIdx.x;
    out[lane] = __shfl_up(x[lane], 3, width);
    out[64 + lane] = __shfl_down(x[lane], 3, width);
    out[128 + lane] = __shfl_up(x[lane], width, width);
}

extern "C" void run_float64(const double* x, int64_t, double* out, hipStream_t stream) {
    for (int width = 64, row = 0; width >= 4; width /= 4, row++) shift<<<1, 64, 0, stream>>>(x, out + row * 192, width);
}
