#include <hip/hip_runtime.h>

__global__ void add(const float* x, unsigned char* scratch, float* out) {
    atomicAdd(reinterpret_cast<unsigned*>(scratch + threadIdx.x % 4), 1u);  // here
    out[threadIdx.x] = x[threadIdx.x];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    unsigned char* scratch;
    hipMalloc(&scratch, 64);
    hipMemsetAsync(scratch, 0, 64, stream);
    add<<<1, 64, 0, stream>>>(x, scratch, out);
    hipFree(scratch);
}
