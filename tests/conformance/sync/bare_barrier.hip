#include <hip/hip_runtime.h>

__global__ void turn(const int* x, int* out) {
    __shared__ int tile[256];
    tile[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    out[blockIdx.x * 256 + threadIdx.x] = tile[255 - threadIdx.x];
}

extern "C" void run(const int* x, int64_t n, int* out, hipStream_t stream) {
    turn<<<n / 256, 256, 0, stream>>>(x, out);
}
