#include "streams.h"

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t) {
    scale<<<(n + 255) / 256, 256, 0, apart()>>>(x, out, n, 2);
}
