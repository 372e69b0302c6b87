#include "layout.h"

using float2_t = Vector<float, 2>;

// Single precision whose mantissa is cut to ten bits: gfx942 only.
PRODUCT(f32_16x16x8_xf32, 16, 1, 2, float2_t, float, float)
PRODUCT(f32_32x32x4_xf32, 32, 1, 2, float2_t, float, float)

extern "C" void run(const float* a, const float* b, const float* c, int64_t, int64_t, int64_t, float* d, hipStream_t stream) {
    Series<float, float> series{a, b, c, d, stream};
    series.run(f32_16x16x8_xf32, 16, 1, 8);
    series.run(f32_32x32x4_xf32, 32, 1, 4);
}
