#include <hip/hip_runtime.h>

__global__ void grow(float* out) {
    int* mine = static_cast<int*>(malloc(16));
    mine[0] = 1;
    out[threadIdx.x] = mine[0];
    free(mine);
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    grow<<<1, 64, 0, stream>>>(out);
}
