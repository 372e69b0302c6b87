#include <hip/hip_runtime.h>

// A dot product of signed bytes, sixteen at a time, with a scale for each row: what int8 inference is made of.
__global__ void product(const int4* a, const int4* b, const float* scale, float* out, int64_t width) {
    int sum = 0;
    for (int64_t k = threadIdx.x; k < width; k += blockDim.x) {
        int4 x = a[blockIdx.x * width + k], y = b[k];
        sum = __builtin_amdgcn_sdot4(x.x, y.x, sum, false);
        sum = __builtin_amdgcn_sdot4(x.y, y.y, sum, false);
        sum = __builtin_amdgcn_sdot4(x.z, y.z, sum, false);
        sum = __builtin_amdgcn_sdot4(x.w, y.w, sum, false);
    }
    for (int step = 32; step; step /= 2) sum += __shfl_down(sum, step);
    if (threadIdx.x == 0) out[blockIdx.x] = (float)sum * scale[blockIdx.x];
}

extern "C" void run(const float* scale, const int8_t* a, const int8_t* b, int64_t rows, int64_t, int64_t width, int64_t, float* out, hipStream_t stream) {
    product<<<rows, 64, 0, stream>>>((const int4*)a, (const int4*)b, scale, out, width / 16);
}
