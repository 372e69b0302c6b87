#include <hip/hip_runtime.h>

#include <hip/hip_fp16.h>
__global__ void even(const float* x, __half* scratch) {
    scratch[2 * threadIdx.x] = __float2half(x[threadIdx.x]);
}
__global__ void all(const __half* scratch, float* out) {
    out[threadIdx.x] = __half2float(scratch[threadIdx.x]);  // here
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    __half* scratch;
    hipMalloc(&scratch, n * sizeof(__half));
    even<<<1, n / 2, 0, stream>>>(x, scratch);
    all<<<1, n, 0, stream>>>(scratch, out);
    hipFree(scratch);
}
