#include <hip/hip_runtime.h>

namespace one {
__global__ void scale(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = x[i];
}
}  // namespace one
namespace {
__global__ void scale(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] += 2 * x[i];
}
}  // namespace

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    one::scale<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
    ::scale<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
}
