#include <hip/hip_runtime.h>

#include <hip/hip_fp16.h>
__global__ void halved(const float* x, __half* scratch, float* out) {
    int i = threadIdx.x;
    scratch[i] = __float2half(x[i]);
    // In place, each its own half of a word.
    scratch[i] = __hadd(scratch[i], scratch[i]);
    __syncthreads();
    out[i] = __half2float(scratch[i ^ 1]);
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    __half* scratch;
    hipMalloc(&scratch, n * sizeof(__half));
    halved<<<1, n, 0, stream>>>(x, scratch, out);
    hipFree(scratch);
}
