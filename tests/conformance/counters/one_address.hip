#include <hip/hip_runtime.h>

__global__ void add(const float* x, int* out) { atomicAdd(out, 1); }

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    hipMemsetAsync(out, 0, n * 4, stream);
    add<<<n / 256, 256, 0, stream>>>(x, (int*)out);
}
