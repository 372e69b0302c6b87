#include <hip/hip_runtime.h>

__global__ void combine(const int* x, unsigned* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) atomicAnd(out, static_cast<unsigned>(x[i]));
}

__global__ void start(unsigned* out) { *out = 0xFFFFFFFFu; }

extern "C" void run(const int* x, int64_t n, unsigned* out, hipStream_t stream) {
    start<<<1, 1, 0, stream>>>(out);
    combine<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
}
