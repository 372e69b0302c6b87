#include <hip/hip_runtime.h>

__global__ void spread(const float* x, float* out, int stride) {
    extern __shared__ float tile[];
    tile[threadIdx.x * stride] = x[threadIdx.x];  // here
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    spread<<<1, 64, 64 * sizeof(float), stream>>>(x, out, 5000);
}
