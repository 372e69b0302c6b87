#include <hip/hip_runtime.h>
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>

__global__ void rotate(const __half* x, const short* bits, __half* out, __half2* pairs, short* brain) {
    int lane = threadIdx.x, next = (lane + 1) % 64;
    out[lane] = __shfl(x[lane], next);
    pairs[lane] = __shfl_xor(__halves2half2(x[lane], x[next]), 32);
    brain[lane] = __bfloat16_as_short(__shfl_down_sync(~0ull, __short_as_bfloat16(bits[lane]), 3));
}

extern "C" void run_float16(const __half* x, const short* bits, int64_t, int64_t, __half* out, __half* pairs, short* brain,
                            hipStream_t stream) {
    rotate<<<1, 64, 0, stream>>>(x, bits, out, reinterpret_cast<__half2*>(pairs), brain);
}
