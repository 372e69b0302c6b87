#include <hip/hip_runtime.h>

__managed__ float shared_with_the_host = 3;
__global__ void put(float* out) { *out = shared_with_the_host; }

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    put<<<1, 1, 0, stream>>>(out);
}
