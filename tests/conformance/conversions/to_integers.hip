#include <hip/hip_runtime.h>

// Beyond the range the instructions saturate; NaN is 0; narrow integers are cut from wider ones.
__global__ void convert(const float* x, int* words, unsigned* unsigneds, uint8_t* bytes, int16_t* shorts, int64_t* longs, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    words[i] = (int)x[i];
    words[n + i] = __float2int_rn(x[i]);
    words[2 * n + i] = __float2int_rd(x[i]);
    words[3 * n + i] = __float2int_ru(x[i]);
    words[4 * n + i] = __double2int_rn((double)x[i]);
    unsigneds[i] = (unsigned)x[i];
    unsigneds[n + i] = __float2uint_rn(x[i]);
    unsigneds[2 * n + i] = (unsigned)(double)x[i];
    bytes[i] = (uint8_t)x[i];
    shorts[i] = (int16_t)x[i];
    longs[i] = __float2ll_rn(fminf(fmaxf(x[i], -1e18f), 1e18f));
}

extern "C" void run(const float* x, int64_t n, int* words, unsigned* unsigneds, uint8_t* bytes, int16_t* shorts, int64_t* longs, hipStream_t stream) {
    convert<<<1, 256, 0, stream>>>(x, words, unsigneds, bytes, shorts, longs, n);
}
