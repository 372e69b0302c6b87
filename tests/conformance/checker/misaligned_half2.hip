#include <hip/hip_runtime.h>

#include <hip/hip_fp16.h>
__global__ void pairs(const float* x, __half* scratch, float* out) {
    scratch[threadIdx.x] = __float2half(x[threadIdx.x]);
    __syncthreads();
    __half2 pair = *reinterpret_cast<const __half2*>(scratch + threadIdx.x / 2 + 1);  // here
    out[threadIdx.x] = __low2float(pair) + __high2float(pair);
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    __half* scratch;
    hipMalloc(&scratch, n * sizeof(__half));
    pairs<<<1, n, 0, stream>>>(x, scratch, out);
    hipFree(scratch);
}
