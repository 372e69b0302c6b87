#include <hip/hip_runtime.h>

__global__ void count(unsigned* counter, float* out) {
    atomicAdd(counter, 1u);  // here
    out[threadIdx.x] = 1;
}
__global__ void tell(const unsigned* counter, float* out) { out[0] = *counter; }  // here

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    unsigned* counter;
    hipMalloc(&counter, sizeof *counter);
    count<<<1, 64, 0, stream>>>(counter, out);
    tell<<<1, 1, 0, stream>>>(counter, out);
    hipFree(counter);
}
