#include <hip/hip_runtime.h>

__device__ int flag;
__global__ void meet(int* out) {
    if (threadIdx.x == 0) {
        atomicAdd(&flag, 1);
        while (atomicAdd(&flag, 0) < int(gridDim.x)) {}
        out[blockIdx.x] = 1;
    }
}

extern "C" void run(const int* x, int64_t n, int* out, hipStream_t stream) {
    meet<<<4, 64, 0, stream>>>(out);
}
