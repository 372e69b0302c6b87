#include <hip/hip_bf16.h>
#include <hip/hip_runtime.h>

__global__ void compare(const __hip_bfloat16* a, const __hip_bfloat16* b, int* out, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    __hip_bfloat16 x = a[i], y = b[i];
    int bits = __heq(x, y) | __hlt(x, y) << 1 | __hle(x, y) << 2 | __hgt(x, y) << 3 | __hge(x, y) << 4 | __hne(x, y) << 5;
    bits |= (x == y) << 6 | (x < y) << 7 | (x >= y) << 8 | __hisnan(x) << 9 | (__hisinf(x) != 0) << 10;
    bits |= __hequ(x, y) << 11 | __hltu(x, y) << 12;
    out[i] = bits;
}

extern "C" void run(const short* a, const short* b, int64_t n, int64_t, int* out, hipStream_t stream) {
    compare<<<1, 256, 0, stream>>>((const __hip_bfloat16*)a, (const __hip_bfloat16*)b, out, n);
}
