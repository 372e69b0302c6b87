#include <hip/hip_runtime.h>

constexpr int kRadius = 3;
__global__ void smooth(const float* x, float* out, int64_t n) {
    __shared__ float tile[128 + 2 * kRadius];
    int64_t first = blockIdx.x * int64_t(128) - kRadius;
    for (int k = threadIdx.x; k < 128 + 2 * kRadius; k += 128) {
        int64_t i = first + k;
        tile[k] = i >= 0 && i < n ? x[i] : 0;
    }
    __syncthreads();
    int64_t i = blockIdx.x * int64_t(128) + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k <= 2 * kRadius; k++) sum += tile[threadIdx.x + k];
    out[i] = sum;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    smooth<<<(n + 127) / 128, 128, 0, stream>>>(x, out, n);
}
