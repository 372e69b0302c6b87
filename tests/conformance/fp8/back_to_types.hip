#include <hip/hip_fp8.h>
#include <hip/hip_runtime.h>

__global__ void convert(const __hip_fp8_e4m3_fnuz* x, int* whole, __half* halves, double* doubles, uint8_t* truth, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    whole[i] = int(x[i]);
    halves[i] = __half(x[i]);
    doubles[i] = double(x[i]);
    truth[i] = bool(x[i]);
}

extern "C" void run(const uint8_t* codes, int64_t n, int* whole, __half* halves, double* doubles, uint8_t* truth, hipStream_t stream) {
    convert<<<1, 256, 0, stream>>>((const __hip_fp8_e4m3_fnuz*)codes, whole, halves, doubles, truth, n);
}
