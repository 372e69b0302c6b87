#include "layout.h"

using short2_t = Vector<short, 2>;

// Two numbers of a lane, up to gfx90a.
PRODUCT(f32_32x32x4bf16, 32, 1, 2, short2_t, short, float)
PRODUCT(f32_16x16x8bf16, 16, 1, 2, short2_t, short, float)
PRODUCT(f32_32x32x2bf16, 32, 2, 2, short2_t, short, float)
PRODUCT(f32_16x16x2bf16, 16, 4, 2, short2_t, short, float)
PRODUCT(f32_4x4x2bf16, 4, 16, 2, short2_t, short, float)

extern "C" void run(const short* a, const short* b, const float* c, int64_t, int64_t, int64_t, float* d, hipStream_t stream) {
    Series<short, float> series{a, b, c, d, stream};
    series.run(f32_32x32x4bf16, 32, 1, 4);
    series.run(f32_16x16x8bf16, 16, 1, 8);
    series.run(f32_32x32x2bf16, 32, 2, 2);
    series.run(f32_16x16x2bf16, 16, 4, 2);
    series.run(f32_4x4x2bf16, 4, 16, 2);
}
