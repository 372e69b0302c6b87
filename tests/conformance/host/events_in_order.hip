#include <hip/hip_runtime.h>

__global__ void twice(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = 2 * x[i];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    hipStream_t other;
    hipEvent_t first, second;
    hipStreamCreateWithFlags(&other, hipStreamNonBlocking);
    hipEventCreate(&first);
    hipEventCreateWithFlags(&second, hipEventDisableTiming);
    float* scratch;
    hipMalloc(&scratch, n * sizeof *scratch);
    twice<<<(n + 255) / 256, 256, 0, stream>>>(x, scratch, n);
    hipEventRecord(first, stream);
    hipStreamWaitEvent(other, first, 0);
    twice<<<(n + 255) / 256, 256, 0, other>>>(scratch, out, n);
    hipEventRecord(second, other);
    hipStreamWaitEvent(stream, second, 0);
    hipEventDestroy(first), hipEventDestroy(second);
    hipStreamDestroy(other);
    hipFree(scratch);
}
