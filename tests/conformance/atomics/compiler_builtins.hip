#include <hip/hip_runtime.h>

__global__ void builtins(int* out) {
    int t = threadIdx.x, none = 0;
    __hip_atomic_fetch_add(out, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WAVEFRONT);
    __hip_atomic_fetch_sub(out + 1, 1, __ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_WORKGROUP);
    __hip_atomic_fetch_and(out + 2, t, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
    __hip_atomic_fetch_or(out + 3, t, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
    __hip_atomic_fetch_xor(out + 4, 1 << t % 32, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
    __hip_atomic_store(out + 5, 5, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
    __hip_atomic_exchange(out + 6, 6, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    __hip_atomic_compare_exchange_strong(out + 7, &none, 3, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    __atomic_fetch_add(out + 8, 1, __ATOMIC_RELAXED);
    __atomic_fetch_max(out + 9, t, __ATOMIC_RELAXED);
    __atomic_store_n(out + 10, 4, __ATOMIC_RELAXED);
    __sync_fetch_and_add(out + 11, 1);
    __scoped_atomic_fetch_add(out + 12, 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
    __atomic_fetch_nand(out + 13, 1, __ATOMIC_RELAXED);
    __hip_atomic_fetch_add(reinterpret_cast<short*>(out + 14), 2, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    out[16 + t] = __hip_atomic_load(out + 5, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
}

extern "C" void run(const float* x, int64_t n, int* out, hipStream_t stream) {
    hipMemsetAsync(out, 0, 64, stream);
    builtins<<<1, 64, 0, stream>>>(out);
}
