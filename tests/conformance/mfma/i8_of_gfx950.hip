#include "layout.h"

using int4_t = Vector<int, 4>;

PRODUCT(i32_32x32x32_i8, 32, 1, 16, int4_t, signed char, int)
PRODUCT(i32_16x16x64_i8, 16, 1, 16, int4_t, signed char, int)

extern "C" void run(const signed char* a, const signed char* b, const int* c, int64_t, int64_t, int64_t, int* d, hipStream_t stream) {
    Series<signed char, int> series{a, b, c, d, stream};
    series.run(i32_32x32x32_i8, 32, 1, 32);
    series.run(i32_16x16x64_i8, 16, 1, 64);
}
