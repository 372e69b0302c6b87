#include <hip/hip_runtime.h>

__global__ void all(const int* x, int* out, long* wide, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    atomicSub_system(out, x[i]);
    atomicMin_system(out + 1, x[i]);
    atomicMax_system(out + 2, x[i]);
    atomicOr_system(out + 3, x[i] & 0xff0);
    atomicXor_system(out + 4, x[i]);
    atomicAnd_system(out + 5, x[i] | ~0xf);
    atomicCAS_system(out + 6, 0, 5);
    atomicExch_system(out + 7, 6);
    atomicAdd_system(reinterpret_cast<unsigned long long*>(wide), 1ull << 33);
}

extern "C" void run(const int* x, int64_t n, int* out, long* wide, hipStream_t stream) {
    hipMemsetAsync(out, 0, 32, stream);
    hipMemsetAsync(wide, 0, 8, stream);
    all<<<(n + 255) / 256, 256, 0, stream>>>(x, out, wide, n);
}
