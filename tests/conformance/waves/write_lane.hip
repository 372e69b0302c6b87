#include <hip/hip_runtime.h>
// Clang has no builtin for it.
__global__ void write(const float* x, float* out) {
    int value = __float_as_int(x[threadIdx.x]);
    asm volatile("v_writelane_b32 %0, 0, 5" : "+v"(value));
    out[threadIdx.x] = __int_as_float(value);
}

extern "C" void run(const float* x, int64_t, float* out, hipStream_t stream) { write<<<1, 64, 0, stream>>>(x, out); }
