#include "layout.h"


// Four numbers of a lane, up to gfx90a.
PRODUCT(i32_32x32x8i8, 32, 1, 4, int, signed char, int)
PRODUCT(i32_16x16x16i8, 16, 1, 4, int, signed char, int)

extern "C" void run(const signed char* a, const signed char* b, const int* c, int64_t, int64_t, int64_t, int* d, hipStream_t stream) {
    Series<signed char, int> series{a, b, c, d, stream};
    series.run(i32_32x32x8i8, 32, 1, 8);
    series.run(i32_16x16x16i8, 16, 1, 16);
}
