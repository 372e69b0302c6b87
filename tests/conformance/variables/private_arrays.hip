#include <hip/hip_runtime.h>

__global__ void sort(const float* x, float* out) {
    float mine[8];
    for (int k = 0; k < 8; k++) mine[k] = x[threadIdx.x * 8 + k];
    for (int a = 1; a < 8; a++)
        for (int b = a; b && mine[b - 1] > mine[b]; b--) {
            float t = mine[b];
            mine[b] = mine[b - 1], mine[b - 1] = t;
        }
    for (int k = 0; k < 8; k++) out[threadIdx.x * 8 + k] = mine[k];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    sort<<<1, n / 8, 0, stream>>>(x, out);
}
