#include <hip/hip_runtime.h>

__global__ void large(float* out) {
    extern __shared__ float tile[];
    tile[threadIdx.x] = 1;
    out[threadIdx.x] = tile[threadIdx.x];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    large<<<1, 64, 65540, stream>>>(out);
}
