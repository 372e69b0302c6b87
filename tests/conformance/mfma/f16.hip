#include "layout.h"

using half4 = Vector<_Float16, 4>;

PRODUCT(f32_32x32x8f16, 32, 1, 4, half4, _Float16, float)
PRODUCT(f32_16x16x16f16, 16, 1, 4, half4, _Float16, float)

extern "C" void run_float16(const _Float16* a, const _Float16* b, const float* c, int64_t, int64_t, int64_t, float* d, hipStream_t stream) {
    Series<_Float16, float> series{a, b, c, d, stream};
    series.run(f32_32x32x8f16, 32, 1, 8);
    series.run(f32_16x16x16f16, 16, 1, 16);
}
