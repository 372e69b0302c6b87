#include <hip/hip_runtime.h>

struct Item {
    char kind;
    double value;
    float rest[20];
};

// Structures travel whole, by shared memory too; who reads them takes what was set.
__global__ void travel(const float* x, Item* one, Item* other, float* out, int n) {
    __shared__ Item tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (i >= n) return;
    one[i].kind = x[i] > 0;
    one[i].value = x[i];
    tile[t] = one[i];
    other[i] = tile[t];
    Item mine = other[i];
    out[i] = mine.kind ? float(mine.value) : -1.0f;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    Item *one, *other;
    hipMalloc(&one, n * sizeof(Item));
    hipMalloc(&other, n * sizeof(Item));
    travel<<<(n + 63) / 64, 64, 0, stream>>>(x, one, other, out, n);
    hipFree(one);
    hipFree(other);
}
