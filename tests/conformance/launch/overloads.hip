#include <hip/hip_runtime.h>

__global__ void put(float* out, int value) { out[0] = value; }
__global__ void put(float* out, float value) { out[1] = value; }

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    put<<<1, 1, 0, stream>>>(out, 7);
    put<<<1, 1, 0, stream>>>(out, 0.5f);
}
