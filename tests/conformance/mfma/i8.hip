#include "layout.h"


PRODUCT(i32_32x32x16_i8, 32, 1, 8, long, signed char, int)
PRODUCT(i32_16x16x32_i8, 16, 1, 8, long, signed char, int)

extern "C" void run(const signed char* a, const signed char* b, const int* c, int64_t, int64_t, int64_t, int* d, hipStream_t stream) {
    Series<signed char, int> series{a, b, c, d, stream};
    series.run(i32_32x32x16_i8, 32, 1, 16);
    series.run(i32_16x16x32_i8, 16, 1, 32);
}
