#include <hip/hip_runtime.h>

typedef float f4 __attribute__((ext_vector_type(4)));
typedef int i4 __attribute__((ext_vector_type(4)));
typedef unsigned char b4 __attribute__((ext_vector_type(4)));
typedef _Float16 h4 __attribute__((ext_vector_type(4)));
typedef unsigned short us4 __attribute__((ext_vector_type(4)));

__global__ void convert(const f4* x, i4* words, b4* bytes, us4* shorts, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    words[i] = __builtin_convertvector(x[i], i4);
    bytes[i] = __builtin_convertvector(x[i], b4);
    shorts[i] = __builtin_convertvector(__builtin_convertvector(x[i], h4), us4);
}

extern "C" void run(const float* x, int64_t n, int* words, uint8_t* bytes, short* shorts, hipStream_t stream) {
    convert<<<1, 256, 0, stream>>>((const f4*)x, (i4*)words, (b4*)bytes, (us4*)shorts, n / 4);
}
