#include <hip/hip_runtime.h>

__global__ void sum(const int* x, int* out) {
    __shared__ int part[128];
    int t = threadIdx.x;
    part[t] = x[blockIdx.x * 128 + t];
    __syncthreads();
    if (t < 64) {
        volatile int* v = part;
        v[t] += v[t + 64];
        if (t < 32) {
            v[t] += v[t + 32];
            v[t] += v[t + 16];
            v[t] += v[t + 8];
            v[t] += v[t + 4];
            v[t] += v[t + 2];
            v[t] += v[t + 1];
        }
        if (t == 0) out[blockIdx.x] = v[0];
    }
}

extern "C" void run(const int* x, int64_t n, int* out, hipStream_t stream) {
    sum<<<n / 128, 128, 0, stream>>>(x, out);
}
