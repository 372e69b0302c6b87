#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

typedef _Float16 halves __attribute__((ext_vector_type(2)));
typedef short shorts __attribute__((ext_vector_type(2)));
#define GLOBAL __attribute__((address_space(1)))
#define LDS __attribute__((address_space(3)))

__global__ void add(_Float16* half, unsigned short* bfloat) {
    __shared__ halves shared;
    if (threadIdx.x == 0) shared = halves{0, 0};
    __syncthreads();
    unsafeAtomicAdd(reinterpret_cast<__half2*>(half), __floats2half2_rn(1, 2));
    __builtin_amdgcn_global_atomic_fadd_v2f16((GLOBAL halves*)(half + 2), halves{3, -1});
    __builtin_amdgcn_ds_atomic_fadd_v2f16((LDS halves*)&shared, halves{0.5f, 4});
    __hip_atomic_fetch_add(half + 6, (_Float16)0.25f, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    unsafeAtomicAdd(reinterpret_cast<__hip_bfloat162*>(bfloat), __hip_bfloat162(1.0f, 2.0f));
    __builtin_amdgcn_global_atomic_fadd_v2bf16((GLOBAL shorts*)(bfloat + 2), shorts{0x3f80, 0x4000});
    __hip_atomic_fetch_add(reinterpret_cast<__bf16*>(bfloat + 4), (__bf16)2.0f, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    __syncthreads();
    if (threadIdx.x == 0) *reinterpret_cast<halves*>(half + 4) = shared;
}

extern "C" void run(const float* x, int64_t n, _Float16* half, unsigned short* bfloat, hipStream_t stream) {
    hipMemsetAsync(half, 0, 16, stream);
    hipMemsetAsync(bfloat, 0, 16, stream);
    add<<<1, 64, 0, stream>>>(half, bfloat);
}
