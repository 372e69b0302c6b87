#include <hip/hip_runtime.h>

__global__ void dots(const float* x, float* out, int64_t n) {
    __shared__ float tile[256];
    // Only as much as there is; what is beyond takes no part.
    if (threadIdx.x < n) tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 256; k++) {
        float value = tile[k];
        sum += k < n ? value : 0;
    }
    if (threadIdx.x < n) out[threadIdx.x] = sum;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    dots<<<1, 256, 0, stream>>>(x, out, n);
}
