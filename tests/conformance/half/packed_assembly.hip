#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

__global__ void add(const unsigned* x, float* out) {
    unsigned twice;
    asm("v_pk_add_f16 %0, %1, %1" : "=v"(twice) : "v"(x[threadIdx.x]));
    out[threadIdx.x] = __builtin_bit_cast(float, twice);
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    add<<<1, n, 0, stream>>>((const unsigned*)x, out);
}
