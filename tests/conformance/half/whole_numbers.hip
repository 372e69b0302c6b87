#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

__global__ void whole(const __half* x, __half* out, int64_t n) {
    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = hfloor(x[i]);
    out[n + i] = hceil(x[i]);
    out[2 * n + i] = htrunc(x[i]);
    out[3 * n + i] = hrint(x[i]);
}

extern "C" void run_float16(const __half* x, int64_t n, __half* out, hipStream_t stream) {
    whole<<<n / 256, 256, 0, stream>>>(x, out, n);
}
