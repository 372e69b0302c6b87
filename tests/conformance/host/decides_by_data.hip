#include <hip/hip_runtime.h>

__global__ void count(const float* x, int* positive, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n && x[i] > 0) atomicAdd(positive, 1);
}
__global__ void mark(float* out, int positive, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = i < positive;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    int *device, positive;
    hipMalloc(&device, sizeof(int));
    hipMemsetAsync(device, 0, sizeof(int), stream);
    count<<<(n + 255) / 256, 256, 0, stream>>>(x, device, n);
    hipMemcpyAsync(&positive, device, sizeof(int), hipMemcpyDeviceToHost, stream);
    hipStreamSynchronize(stream);
    mark<<<(n + 255) / 256, 256, 0, stream>>>(out, positive, n);
    hipFree(device);
}
