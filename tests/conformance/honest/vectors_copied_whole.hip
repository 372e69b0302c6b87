#include <hip/hip_runtime.h>

struct Block {
    float4 a, b, c, d;
};

// Vectors from memory to memory, by shared memory, in one go and in several.
__global__ void copy(const Block* x, Block* out, int n) {
    __shared__ Block tile[32];
    int i = blockIdx.x * 32 + threadIdx.x;
    if (i < n) tile[threadIdx.x] = x[i];
    __syncthreads();
    int from = blockIdx.x * 32 + (threadIdx.x ^ 1);
    if (i < n && from < n) out[i] = tile[threadIdx.x ^ 1];
    if (i < n && from >= n) out[i] = x[i];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    copy<<<(n / 16 + 31) / 32, 32, 0, stream>>>(reinterpret_cast<const Block*>(x), reinterpret_cast<Block*>(out), n / 16);
}
