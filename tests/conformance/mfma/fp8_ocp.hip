#include "layout.h"

// The same code is another number on gfx942 (FNUZ) and on gfx950 (OCP).
#define KIND(kinds)                                                             \
    PRODUCT(f32_16x16x32_##kinds, 16, 1, 8, long, unsigned char, float)         \
    PRODUCT(f32_32x32x16_##kinds, 32, 1, 8, long, unsigned char, float)
KIND(fp8_fp8)
KIND(fp8_bf8)
KIND(bf8_fp8)
KIND(bf8_bf8)

extern "C" void run(const unsigned char* a, const unsigned char* b, const float* c, int64_t, int64_t, int64_t, float* d,
                    hipStream_t stream) {
    Series<unsigned char, float> series{a, b, c, d, stream};
    for (auto kernel : {f32_16x16x32_fp8_fp8, f32_16x16x32_fp8_bf8, f32_16x16x32_bf8_fp8, f32_16x16x32_bf8_bf8})
        series.run(kernel, 16, 1, 32);
    for (auto kernel : {f32_32x32x16_fp8_fp8, f32_32x32x16_fp8_bf8, f32_32x32x16_bf8_fp8, f32_32x32x16_bf8_bf8})
        series.run(kernel, 32, 1, 16);
}
