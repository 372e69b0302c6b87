#include <hip/hip_runtime.h>

// Shuffles within waves, a word of shared memory for each, and a second use of the same words.
__device__ float block_sum(float v, float* part) {
    for (int d = 32; d; d /= 2) v += __shfl_xor(v, d);
    if (threadIdx.x % 64 == 0) part[threadIdx.x / 64] = v;
    __syncthreads();
    v = threadIdx.x % 64 < blockDim.x / 64 ? part[threadIdx.x % 64] : 0;
    for (int d = 32; d; d /= 2) v += __shfl_xor(v, d);
    __syncthreads();
    return v;
}

__global__ void centre(const float* x, float* out, int cols) {
    __shared__ float part[4];
    float sum = 0;
    for (int c = threadIdx.x; c < cols; c += 256) sum += x[blockIdx.x * cols + c];
    float all = block_sum(sum, part);
    float most = block_sum(threadIdx.x == 3 ? 1.0f : 0.0f, part);
    for (int c = threadIdx.x; c < cols; c += 256) out[blockIdx.x * cols + c] = x[blockIdx.x * cols + c] - all * most;
}

extern "C" void run(const float* x, int64_t rows, int64_t cols, float* out, hipStream_t stream) {
    centre<<<rows, 256, 0, stream>>>(x, out, cols);
}
