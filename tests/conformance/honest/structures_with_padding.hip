#include <hip/hip_runtime.h>

struct Item {
    char tag;
    double value;
    short rank;
};
__global__ void fill(const float* x, Item* items, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    items[i].tag = 1;
    items[i].value = x[i];
    items[i].rank = short(i);
}
__global__ void take(const Item* items, Item* copies, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    copies[i] = items[n - 1 - i];
    Item item = copies[i];
    out[i] = float(item.value) + item.tag + item.rank;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    Item *items, *copies;
    hipMalloc(&items, n * sizeof(Item));
    hipMalloc(&copies, n * sizeof(Item));
    fill<<<(n + 255) / 256, 256, 0, stream>>>(x, items, n);
    take<<<(n + 255) / 256, 256, 0, stream>>>(items, copies, out, n);
    hipFree(items), hipFree(copies);
}
