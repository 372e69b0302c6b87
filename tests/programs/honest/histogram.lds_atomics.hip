// Counts in LDS by integer atomics, int4 loads, then 64-bit atomics onto the output.
#include <hip/hip_runtime.h>

__global__ void histogram(const int* x, unsigned long long* bins, int n) {
    __shared__ int local[64];
    for (int i = threadIdx.x; i < 64; i += blockDim.x) local[i] = 0;
    __syncthreads();
    const int stride = gridDim.x * blockDim.x, first = blockIdx.x * blockDim.x + threadIdx.x;
    const int4* x4 = reinterpret_cast<const int4*>(x);
    for (int i = first; i < n / 4; i += stride) {
        const int4 v = x4[i];
        atomicAdd(&local[v.x], 1);
        atomicAdd(&local[v.y], 1);
        atomicAdd(&local[v.z], 1);
        atomicAdd(&local[v.w], 1);
    }
    for (int i = n / 4 * 4 + first; i < n; i += stride) atomicAdd(local + x[i], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < 64; i += blockDim.x)
        if (local[i]) atomicAdd(&bins[i], (unsigned long long)local[i]);
}

extern "C" void run(const int32_t* x, int64_t n, int64_t* out, hipStream_t stream) {
    hipMemsetAsync(out, 0, 64 * sizeof(int64_t), stream);
    histogram<<<3, 256, 0, stream>>>(x, reinterpret_cast<unsigned long long*>(out), n);
}
