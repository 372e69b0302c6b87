#include <hip/hip_runtime.h>

__global__ void turn(const float4* x, float4* out) {
    __shared__ __attribute__((aligned(16))) float tile[256];
    float4* rows = reinterpret_cast<float4*>(tile);
    rows[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = rows[63 - threadIdx.x];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    turn<<<n / 256, 64, 0, stream>>>(reinterpret_cast<const float4*>(x), reinterpret_cast<float4*>(out));
}
