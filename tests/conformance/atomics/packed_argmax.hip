#include <hip/hip_runtime.h>

__global__ void start(unsigned long long* best) { *best = 0; }
__global__ void find(const float* x, unsigned long long* best, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    int bits = __float_as_int(x[i]);
    unsigned ordered = bits < 0 ? ~unsigned(bits) : unsigned(bits) | 0x80000000u;
    atomicMax(best, static_cast<unsigned long long>(ordered) << 32 | ~unsigned(i));
}
__global__ void tell(const unsigned long long* best, int64_t* out) { *out = ~unsigned(*best); }

extern "C" void run(const float* x, int64_t n, int64_t* out, hipStream_t stream) {
    unsigned long long* best;
    hipMalloc(&best, sizeof *best);
    start<<<1, 1, 0, stream>>>(best);
    find<<<(n + 255) / 256, 256, 0, stream>>>(x, best, n);
    tell<<<1, 1, 0, stream>>>(best, out);
    hipFree(best);
}
