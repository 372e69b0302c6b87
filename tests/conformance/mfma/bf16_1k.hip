#include "layout.h"

using short4_t = Vector<short, 4>;

// Four numbers of a lane, since gfx90a.
PRODUCT(f32_32x32x8bf16_1k, 32, 1, 4, short4_t, short, float)
PRODUCT(f32_16x16x16bf16_1k, 16, 1, 4, short4_t, short, float)
PRODUCT(f32_32x32x4bf16_1k, 32, 2, 4, short4_t, short, float)
PRODUCT(f32_16x16x4bf16_1k, 16, 4, 4, short4_t, short, float)
PRODUCT(f32_4x4x4bf16_1k, 4, 16, 4, short4_t, short, float)

extern "C" void run(const short* a, const short* b, const float* c, int64_t, int64_t, int64_t, float* d, hipStream_t stream) {
    Series<short, float> series{a, b, c, d, stream};
    series.run(f32_32x32x8bf16_1k, 32, 1, 8);
    series.run(f32_16x16x16bf16_1k, 16, 1, 16);
    series.run(f32_32x32x4bf16_1k, 32, 2, 4);
    series.run(f32_16x16x4bf16_1k, 16, 4, 4);
    series.run(f32_4x4x4bf16_1k, 4, 16, 4);
}
