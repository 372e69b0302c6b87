#include <hip/hip_runtime.h>

typedef float float8 __attribute__((ext_vector_type(8)));
typedef _Float16 half8 __attribute__((ext_vector_type(8)));

__global__ void opaque(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    float v = x[i], w = 2 * v, same;
    int count = 3;
    double wide = v;
    half8 halves = _Float16(1);
    float8 floats = v;
    asm volatile("" : "+v"(v), "+v"(w)::"memory");
    asm("" : "=v"(same) : "0"(v));
    asm volatile("" : "+v"(count), "+v"(wide));
    asm volatile("" : "+a"(floats));
    asm volatile("" : "+v"(halves));
    asm volatile("" : "+v"(out));
    asm volatile("s_waitcnt vmcnt(%0)" ::"n"(0));
    asm volatile("s_nop 0" ::"v"(v), "v"(floats));
    out[i] = v + w + same + count + float(wide) + floats[7] + float(halves[5]);
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    opaque<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
}
