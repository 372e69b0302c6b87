#include <hip/hip_runtime.h>

__global__ void pipeline(const int* x, int* out, int rounds) {
    __shared__ int slots[2][64];
    int wave = threadIdx.x / 64, lane = threadIdx.x % 64, sum = 0;
    for (int k = 0; k <= rounds; k++) {
        if (wave == 0 && k < rounds) slots[k % 2][lane] = x[k * 64 + lane];
        if (wave == 1 && k > 0) sum += slots[(k - 1) % 2][63 - lane];
        __syncthreads();
    }
    if (wave == 1) out[lane] = sum;
}

extern "C" void run(const int* x, int64_t n, int* out, hipStream_t stream) {
    pipeline<<<1, 128, 0, stream>>>(x, out, n / 64);
}
