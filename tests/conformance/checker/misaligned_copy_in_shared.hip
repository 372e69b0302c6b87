#include <hip/hip_runtime.h>

struct Pair {
    float4 low, high;
};

// Rows of seventeen floats, taken in vectors.
__global__ void rows(const float* x, Pair* out) {
    __shared__ float tile[8][17];
    for (int i = threadIdx.x; i < 136; i += 64) tile[i / 17][i % 17] = x[i];
    __syncthreads();
    const Pair* row = reinterpret_cast<const Pair*>(tile[threadIdx.x / 2 % 8]);
    if (threadIdx.x < 16) out[threadIdx.x] = row[threadIdx.x % 2];  // here
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    rows<<<1, 64, 0, stream>>>(x, reinterpret_cast<Pair*>(out));
}
