#include <hip/hip_runtime.h>

#define GLOBAL __attribute__((address_space(1)))
#define LDS __attribute__((address_space(3)))

__global__ void spaces(const float* x, float* single, double* wide) {
    __shared__ float shared[3];
    int t = threadIdx.x;
    if (t < 3) shared[t] = 0;
    __syncthreads();
    __builtin_amdgcn_global_atomic_fadd_f32((GLOBAL float*)single, x[t]);
    __builtin_amdgcn_ds_faddf((LDS float*)shared, x[t], 0, 0, false);
    __builtin_amdgcn_ds_fminf((LDS float*)(shared + 1), x[t], 0, 0, false);
    __builtin_amdgcn_ds_fmaxf((LDS float*)(shared + 2), x[t], 0, 0, false);
    __builtin_amdgcn_global_atomic_fadd_f64((GLOBAL double*)wide, x[t]);
    __builtin_amdgcn_global_atomic_fmin_f64((GLOBAL double*)(wide + 1), x[t]);
    __builtin_amdgcn_global_atomic_fmax_f64((GLOBAL double*)(wide + 2), x[t]);
    __syncthreads();
    if (t < 3) single[1 + t] = shared[t];
}

extern "C" void run(const float* x, int64_t n, float* single, double* wide, hipStream_t stream) {
    hipMemsetAsync(single, 0, 16, stream);
    hipMemsetAsync(wide, 0, 24, stream);
    spaces<<<1, 256, 0, stream>>>(x, single, wide);
}
