#include <hip/hip_runtime.h>

__global__ void turn(const int* x, int* out) {
    __shared__ int tile[256];
    tile[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
    asm volatile("s_waitcnt lgkmcnt(0)\n\ts_barrier" ::: "memory");
    out[blockIdx.x * 256 + threadIdx.x] = tile[255 - threadIdx.x];
}

extern "C" void run(const int* x, int64_t n, int* out, hipStream_t stream) {
    turn<<<n / 256, 256, 0, stream>>>(x, out);
}
