#include <hip/hip_runtime.h>

struct alignas(16) Mixed {
    float2 pair;
    int number;
    unsigned char bytes[4];
};

// Sixteen bytes at once, by a struct, by a cast, past the caches, and a row that begins in the middle of sixteen.
__global__ void copies(const Mixed* from, Mixed* to, int4* casted, float4* streamed, float2* shifted, int64_t n) {
    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Mixed one = from[i];
    one.number += one.bytes[1];
    to[i] = one;
    casted[i] = reinterpret_cast<const int4*>(from)[i];
    typedef float f4 __attribute__((ext_vector_type(4)));
    f4 passing = __builtin_nontemporal_load(reinterpret_cast<const f4*>(from) + i);
    __builtin_nontemporal_store(passing, reinterpret_cast<f4*>(streamed) + i);
    if (i + 1 < n) {
        float4 across = *reinterpret_cast<const float4*>(reinterpret_cast<const float2*>(from) + 2 * i + 1);
        shifted[2 * i] = make_float2(across.x, across.y);
        shifted[2 * i + 1] = make_float2(across.z, across.w);
    } else {
        shifted[2 * i] = shifted[2 * i + 1] = make_float2(0, 0);
    }
}

extern "C" void run(const int* from, int64_t n, int* to, int* casted, int* streamed, int* shifted, hipStream_t stream) {
    copies<<<(n / 4 + 63) / 64, 64, 0, stream>>>((const Mixed*)from, (Mixed*)to, (int4*)casted, (float4*)streamed, (float2*)shifted, n / 4);
}
