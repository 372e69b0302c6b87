#include <hip/hip_runtime.h>

// Bytes wrap around in their own width, and are shifted without their sign.
__global__ void bytes(const uchar4* a, const char4* b, uchar4* sums, char4* halves, uchar4* mixed, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    sums[i] = a[i] + make_uchar4(200, 100, 50, 1);
    halves[i] = b[i] / make_char4(2, 3, 4, 5);
    mixed[i] = (a[i] >> make_uchar4(1, 1, 2, 2)) * make_uchar4(3, 3, 5, 5);
}

extern "C" void run(const uint8_t* a, const int8_t* b, int64_t n, int64_t, uint8_t* sums, int8_t* halves, uint8_t* mixed, hipStream_t stream) {
    bytes<<<1, 64, 0, stream>>>((const uchar4*)a, (const char4*)b, (uchar4*)sums, (char4*)halves, (uchar4*)mixed, n / 4);
}
