#include <hip/hip_runtime.h>

__global__ void split(const float* x, float* scratch, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    reinterpret_cast<double*>(scratch)[i] = x[i];
    reinterpret_cast<int*>(scratch + 2 * n)[i] = int(i);
    scratch[3 * n + i] = -x[i];
}
__global__ void join(const float* scratch, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    int64_t k = n - 1 - i;
    out[i] = float(reinterpret_cast<const double*>(scratch)[k]) + reinterpret_cast<const int*>(scratch + 2 * n)[k] + scratch[3 * n + k];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    float* scratch;
    hipMalloc(&scratch, 4 * n * sizeof(float));
    split<<<(n + 255) / 256, 256, 0, stream>>>(x, scratch, n);
    join<<<(n + 255) / 256, 256, 0, stream>>>(scratch, out, n);
    hipFree(scratch);
}
