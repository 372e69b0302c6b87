#include <hip/hip_runtime.h>

__global__ void twice(const float* x, float* out) {
    __shared__ int first[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    first[threadIdx.x] = threadIdx.x ^ 5;
    __syncthreads();
    int place = first[threadIdx.x];
    __syncthreads();
    float* second = reinterpret_cast<float*>(first);
    second[threadIdx.x] = x[i];
    __syncthreads();
    out[i] = second[place];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    twice<<<n / 128, 128, 0, stream>>>(x, out);
}
