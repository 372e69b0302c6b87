#include <hip/hip_bf16.h>
#include <hip/hip_runtime.h>

typedef __bf16 bf16x2 __attribute__((ext_vector_type(2)));

__global__ void dot(const bf16x2* a, const bf16x2* b, float* out, int64_t rows, int64_t width) {
    int64_t row = threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int64_t k = 0; k < width; k++) sum = __builtin_amdgcn_fdot2_f32_bf16(a[row * width + k], b[row * width + k], sum, false);
    out[row] = sum;
}

extern "C" void run(const short* a, const short* b, int64_t rows, int64_t width, int64_t, int64_t, float* out, hipStream_t stream) {
    dot<<<1, 64, 0, stream>>>((const bf16x2*)a, (const bf16x2*)b, out, rows, width / 2);
}
