#include "layout.h"

using bf16x8 = Vector<__bf16, 8>;

PRODUCT(f32_32x32x16_bf16, 32, 1, 8, bf16x8, short, float)
PRODUCT(f32_16x16x32_bf16, 16, 1, 8, bf16x8, short, float)

extern "C" void run(const short* a, const short* b, const float* c, int64_t, int64_t, int64_t, float* d, hipStream_t stream) {
    Series<short, float> series{a, b, c, d, stream};
    series.run(f32_32x32x16_bf16, 32, 1, 16);
    series.run(f32_16x16x32_bf16, 16, 1, 32);
}
