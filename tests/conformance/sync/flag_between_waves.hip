#include <hip/hip_runtime.h>

__global__ void hand_over(const int* x, int* out) {
    __shared__ int value;
    __shared__ volatile int ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 64) {
        value = x[blockIdx.x] * 3;
        __threadfence_block();
        ready = 1;
    }
    if (threadIdx.x == 0) {
        while (ready == 0) {}
        __threadfence_block();
        out[blockIdx.x] = *static_cast<volatile int*>(&value);
    }
}

extern "C" void run(const int* x, int64_t n, int* out, hipStream_t stream) {
    hand_over<<<16, 128, 0, stream>>>(x, out);
}
