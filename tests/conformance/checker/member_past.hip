#include <hip/hip_runtime.h>

struct Pair { float first, second; };
__global__ void seconds(const Pair* x, float* out, int64_t pairs) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i <= pairs) out[i] = x[i].second;  // here
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    seconds<<<2, 256, 0, stream>>>(reinterpret_cast<const Pair*>(x), out, n / 2);
}
