#include <hip/hip_runtime.h>

// What the kernel gets is given back before it is launched: the owner is a temporary.
struct Scratch {
    float* data;
    explicit Scratch(int64_t n) { hipMalloc(&data, n * sizeof(float)); }
    ~Scratch() { hipFree(data); }
};
__global__ void copy(const float* x, float* scratch, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = scratch[i] = x[i];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    float* scratch = Scratch(n).data;
    copy<<<(n + 255) / 256, 256, 0, stream>>>(x, scratch, out, n);
}
