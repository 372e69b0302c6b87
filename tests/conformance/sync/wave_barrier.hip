#include <hip/hip_runtime.h>

__global__ void turn(const int* x, int* out) {
    __shared__ int tile[128];
    int first = threadIdx.x / 64 * 64, lane = threadIdx.x % 64;
    tile[threadIdx.x] = x[blockIdx.x * 128 + threadIdx.x];
    __builtin_amdgcn_wave_barrier();
    out[blockIdx.x * 128 + threadIdx.x] = tile[first + 63 - lane];
}

extern "C" void run(const int* x, int64_t n, int* out, hipStream_t stream) {
    turn<<<n / 128, 128, 0, stream>>>(x, out);
}
