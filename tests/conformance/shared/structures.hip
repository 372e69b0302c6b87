#include <hip/hip_runtime.h>

struct Pair {
    float value;
    int index;
};
__global__ void largest(const float* x, int* out) {
    __shared__ Pair best[256];
    best[threadIdx.x] = {x[blockIdx.x * 256 + threadIdx.x], int(threadIdx.x)};
    for (int step = 128; step; step /= 2) {
        __syncthreads();
        if (threadIdx.x < step && best[threadIdx.x + step].value > best[threadIdx.x].value) best[threadIdx.x] = best[threadIdx.x + step];
    }
    if (threadIdx.x == 0) out[blockIdx.x] = best[0].index;
}

extern "C" void run(const float* x, int64_t n, int* out, hipStream_t stream) {
    largest<<<n / 256, 256, 0, stream>>>(x, out);
}
