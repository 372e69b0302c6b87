#include "layout.h"


// Two, four and sixteen products at once.
PRODUCT(f32_32x32x1f32, 32, 2, 1, float, float, float)
PRODUCT(f32_16x16x1f32, 16, 4, 1, float, float, float)
PRODUCT(f32_4x4x1f32, 4, 16, 1, float, float, float)

extern "C" void run(const float* a, const float* b, const float* c, int64_t, int64_t, int64_t, float* d, hipStream_t stream) {
    Series<float, float> series{a, b, c, d, stream};
    series.run(f32_32x32x1f32, 32, 2, 1);
    series.run(f32_16x16x1f32, 16, 4, 1);
    series.run(f32_4x4x1f32, 4, 16, 1);
}
