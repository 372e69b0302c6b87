#include "banks.h"

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    swapped<<<n / 64, 64, 0, stream>>>(x, out);
}
