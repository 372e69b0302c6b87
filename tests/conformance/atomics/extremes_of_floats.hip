#include <hip/hip_runtime.h>

__global__ void extremes(const float* x, float* single, double* wide, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    unsafeAtomicMin(single, x[i]);
    unsafeAtomicMax(single + 1, x[i]);
    safeAtomicMin(single + 2, x[i]);
    safeAtomicMax(single + 3, x[i]);
    unsafeAtomicMin(wide, double(x[i]));
    unsafeAtomicMax(wide + 1, double(x[i]));
    __builtin_amdgcn_flat_atomic_fmin_f64(wide + 2, double(x[i]));
    __builtin_amdgcn_flat_atomic_fmax_f64(wide + 3, double(x[i]));
}

extern "C" void run(const float* x, int64_t n, float* single, double* wide, hipStream_t stream) {
    hipMemsetAsync(single, 0, 16, stream);
    hipMemsetAsync(wide, 0, 32, stream);
    extremes<<<(n + 255) / 256, 256, 0, stream>>>(x, single, wide, n);
}
