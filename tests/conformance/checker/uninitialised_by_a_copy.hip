#include <hip/hip_runtime.h>

struct Item {
    float of[24];
};

__global__ void sums(const float* x, Item* one, Item* other, float* out) {
    int t = threadIdx.x;
    for (int i = 0; i < 23; i++) one[t].of[i] = x[t];
    other[t] = one[t];
    float sum = 0;
    for (int i = 0; i < 24; i++) sum += other[t].of[i];  // here
    out[t] = sum;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    Item *one, *other;
    hipMalloc(&one, n * sizeof(Item));
    hipMalloc(&other, n * sizeof(Item));
    sums<<<1, n, 0, stream>>>(x, one, other, out);
    hipFree(one);
    hipFree(other);
}
