#include <hip/hip_runtime.h>

#include <hip/hip_fp16.h>
__global__ void rounds(const float* x, float* out) {
    __shared__ __half tile[128];
    float sum = 0;
    for (int k = 0; k < 3; k++) {
        tile[threadIdx.x] = __float2half(x[k * 128 + threadIdx.x]);  // here
        __syncthreads();
        sum += __half2float(tile[127 - threadIdx.x]);  // here
    }
    out[threadIdx.x] = sum;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    rounds<<<1, 128, 0, stream>>>(x, out);
}
