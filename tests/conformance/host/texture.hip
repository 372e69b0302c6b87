#include <hip/hip_runtime.h>

__global__ void fetch(hipTextureObject_t texture, float* out) { out[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x); }

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    hipTextureObject_t texture;
    hipResourceDesc resource{};
    hipTextureDesc how{};
    hipCreateTextureObject(&texture, &resource, &how, nullptr);
    fetch<<<1, 64, 0, stream>>>(texture, out);
}
