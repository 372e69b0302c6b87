#include <hip/hip_runtime.h>

// The next tile is on its way in registers while the present one is read; one barrier a round.
__global__ void sums(const float* x, float* out, int rounds) {
    __shared__ float tile[2][128];
    int t = threadIdx.x;
    tile[0][t] = x[t];
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < rounds; i++) {
        float next = i + 1 < rounds ? x[(i + 1) * 128 + t] : 0;
        sum += tile[i & 1][127 - t] - tile[i & 1][t ^ 5];
        if (i + 1 < rounds) tile[(i + 1) & 1][t] = next;
        __syncthreads();
    }
    out[t] = sum;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) { sums<<<1, 128, 0, stream>>>(x, out, n / 128); }
