#include <hip/hip_runtime.h>

// What is compiled is what a candidate's target chooses.
__global__ void which(int* out) {
#if defined(__gfx950__)
    out[0] = 0x950;
#elif defined(__gfx942__)
    out[0] = 0x942;
#elif defined(__gfx90a__)
    out[0] = 0x90a;
#endif
}

extern "C" void run(const int*, int64_t, int* out, hipStream_t stream) { which<<<1, 1, 0, stream>>>(out); }
