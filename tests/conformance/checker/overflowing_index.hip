#include <hip/hip_runtime.h>

__global__ void copy(const float* x, float* out, int64_t n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int wrapped = static_cast<int>(static_cast<unsigned>(i) * 4294967u * 1000u);
    if (i < n) out[i] = x[i == 0 ? 0 : wrapped];  // here
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    copy<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
}
