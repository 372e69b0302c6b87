#include "layout.h"

// Two numbers a byte, the lower bits first: lane l has 32 in a row, from 32 (l / M) along k. B is fp8.
using Vector8 = Vector<int, 8>;

__global__ void mixed(const unsigned char* a, const unsigned char* b, const unsigned char* as, float* d) {
    int row = threadIdx.x % 16, block = threadIdx.x / 16;
    unsigned char fours[32] = {}, eights[32];
    for (int j = 0; j < 16; j++) fours[j] = a[row * 64 + block * 16 + j];
    for (int j = 0; j < 32; j++) eights[j] = b[(j / 16 * 64 + block * 16 + j % 16) * 16 + row];
    Vector<float, 4> sum = {};
    sum = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(__builtin_bit_cast(Vector8, fours), __builtin_bit_cast(Vector8, eights),
                                                           sum, 4, 0, 0, as[row * 4 + block], 0, 127);
    store_d<16>(sum, d);
}

extern "C" void run(const unsigned char* a, const unsigned char* b, const unsigned char* as, int64_t, int64_t, int64_t,
                    float* d, hipStream_t stream) {
    mixed<<<1, 64, 0, stream>>>(a, b, as, d);
}
