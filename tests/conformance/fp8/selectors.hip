#include <hip/hip_fp8.h>
#include <hip/hip_runtime.h>

typedef float float2_t __attribute__((ext_vector_type(2)));

__global__ void decode(const int* words, float* bytes, float* pairs, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    bytes[4 * i] = __builtin_amdgcn_cvt_f32_fp8(words[i], 0);
    bytes[4 * i + 1] = __builtin_amdgcn_cvt_f32_fp8(words[i], 1);
    bytes[4 * i + 2] = __builtin_amdgcn_cvt_f32_bf8(words[i], 2);
    bytes[4 * i + 3] = __builtin_amdgcn_cvt_f32_bf8(words[i], 3);
    float2_t low = __builtin_amdgcn_cvt_pk_f32_bf8(words[i], false), high = __builtin_amdgcn_cvt_pk_f32_fp8(words[i], true);
    pairs[4 * i] = low.x, pairs[4 * i + 1] = low.y, pairs[4 * i + 2] = high.x, pairs[4 * i + 3] = high.y;
}

extern "C" void run(const int* words, int64_t n, float* bytes, float* pairs, hipStream_t stream) {
    decode<<<1, 256, 0, stream>>>(words, bytes, pairs, n);
}
