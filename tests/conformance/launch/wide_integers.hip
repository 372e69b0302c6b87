#include <hip/hip_runtime.h>

__global__ void scale(const float* x, float* out, __int128 factor) {
    __int128 wide = __int128(x[threadIdx.x]) * factor;
    out[threadIdx.x] = float(wide / (factor / 3));
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    scale<<<1, 64, 0, stream>>>(x, out, __int128(3) << 70);
}
