#include <hip/hip_runtime.h>

__global__ void votes(const int* x, int* out) {
    int value = x[blockIdx.x * 128 + threadIdx.x];
    bool all = __syncthreads_and(value < 990), any = __syncthreads_or(value > 990);
    if (threadIdx.x == 0) out[blockIdx.x] = 2 * all + any;
}

extern "C" void run(const int* x, int64_t n, int* out, hipStream_t stream) {
    votes<<<n / 128, 128, 0, stream>>>(x, out);
}
