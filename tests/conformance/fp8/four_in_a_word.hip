#include <hip/hip_fp8.h>
#include <hip/hip_runtime.h>

// Sixteen bytes of floats become a word: the second conversion keeps what the first has made.
__global__ void pack(const float4* x, int* out, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    int word = __builtin_amdgcn_cvt_pk_fp8_f32(x[i].x, x[i].y, (int)0xaaaaaaaa, false);
    out[n + i] = word;
    out[i] = __builtin_amdgcn_cvt_pk_fp8_f32(x[i].z, x[i].w, word, true);
}

extern "C" void run(const float* x, int64_t n, int* out, hipStream_t stream) {
    pack<<<1, 64, 0, stream>>>((const float4*)x, out, n / 4);
}
