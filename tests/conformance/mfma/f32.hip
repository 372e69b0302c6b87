#include "layout.h"


PRODUCT(f32_32x32x2f32, 32, 1, 1, float, float, float)
PRODUCT(f32_16x16x4f32, 16, 1, 1, float, float, float)

extern "C" void run(const float* a, const float* b, const float* c, int64_t, int64_t, int64_t, float* d, hipStream_t stream) {
    Series<float, float> series{a, b, c, d, stream};
    series.run(f32_32x32x2f32, 32, 1, 2);
    series.run(f32_16x16x4f32, 16, 1, 4);
}
