#include "layout.h"


PRODUCT(i32_32x32x4i8, 32, 2, 4, int, signed char, int)
PRODUCT(i32_16x16x4i8, 16, 4, 4, int, signed char, int)
PRODUCT(i32_4x4x4i8, 4, 16, 4, int, signed char, int)

extern "C" void run(const signed char* a, const signed char* b, const int* c, int64_t, int64_t, int64_t, int* d, hipStream_t stream) {
    Series<signed char, int> series{a, b, c, d, stream};
    series.run(i32_32x32x4i8, 32, 2, 4);
    series.run(i32_16x16x4i8, 16, 4, 4);
    series.run(i32_4x4x4i8, 4, 16, 4);
}
