// Harris's reduction: two elements a thread, unrolled tail of a wave without barriers, second kernel over scratch.
#include <hip/hip_runtime.h>

template <unsigned B> __device__ void warp_reduce(volatile float* s, unsigned t) {
    if (B >= 128) s[t] += s[t + 64];
    if (B >= 64) s[t] += s[t + 32];
    s[t] += s[t + 16];
    s[t] += s[t + 8];
    s[t] += s[t + 4];
    s[t] += s[t + 2];
    s[t] += s[t + 1];
}

template <unsigned B> __global__ void reduce6(const float* in, float* out, unsigned n) {
    __shared__ float s[B];
    unsigned t = threadIdx.x, i = blockIdx.x * (B * 2) + t, grid = B * 2 * gridDim.x;
    s[t] = 0;
    while (i < n) {
        s[t] += in[i];
        if (i + B < n) s[t] += in[i + B];
        i += grid;
    }
    __syncthreads();
    if (B >= 512) {
        if (t < 256) s[t] += s[t + 256];
        __syncthreads();
    }
    if (B >= 256) {
        if (t < 128) s[t] += s[t + 128];
        __syncthreads();
    }
    if (t < 64) warp_reduce<B>(s, t);
    if (t == 0) out[blockIdx.x] = s[0];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    const int blocks = n > 8 * 512 ? 8 : (n + 511) / 512;
    float* scratch = nullptr;
    if (hipMallocAsync(reinterpret_cast<void**>(&scratch), blocks * sizeof(float), stream) != hipSuccess) return;
    reduce6<256><<<blocks, 256, 0, stream>>>(x, scratch, n);
    reduce6<256><<<1, 256, 0, stream>>>(scratch, out, blocks);
    hipFreeAsync(scratch, stream);
}
