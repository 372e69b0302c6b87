#include <hip/hip_runtime.h>
__global__ void narrow(const float* x, float* out) { out[threadIdx.x] = __shfl_sync(0xffffffffu, x[threadIdx.x], 0); }

extern "C" void run(const float* x, int64_t, float* out, hipStream_t stream) { narrow<<<1, 64, 0, stream>>>(x, out); }
