#include <hip/hip_runtime.h>

struct Workspace {
    int rows;
    float *sums, *rest;
};
__global__ void add(Workspace w, const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = w.rest[i] = w.sums[i] = x[i];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    Workspace w{1, nullptr, nullptr};
    hipMalloc(&w.sums, n * sizeof(float));
    hipMalloc(&w.rest, 2 * n * sizeof(float));
    hipFree(w.rest);
    add<<<(n + 255) / 256, 256, 0, stream>>>(w, x, out, n);
    hipFree(w.sums);
}
