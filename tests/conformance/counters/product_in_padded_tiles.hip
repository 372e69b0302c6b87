#include "tiles.h"

extern "C" void run(const float* x, int64_t n, int64_t, float* out, hipStream_t stream) {
    multiply<17>(x, n, out, stream);
}
