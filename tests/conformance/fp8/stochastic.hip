#include <hip/hip_fp8.h>
#include <hip/hip_runtime.h>

// How often each number is rounded to the code in `upper`, for equally spaced random numbers.
__global__ void count(const float* x, const uint8_t* upper, int* e4m3, int* kept, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    int hits = 0;
    for (unsigned k = 0; k < 1024; k++)
        hits += ((unsigned)__builtin_amdgcn_cvt_sr_fp8_f32(x[i], (int)(k << 22), 0, 2) >> 16 & 0xff) == upper[i];
    e4m3[i] = hits;
    kept[i] = __builtin_amdgcn_cvt_sr_bf8_f32(1.0f, -1, 0x11223344, 3);
}

extern "C" void run(const float* x, const uint8_t* upper, int64_t n, int64_t, int* e4m3, int* kept, hipStream_t stream) {
    count<<<1, 256, 0, stream>>>(x, upper, e4m3, kept, n);
}
