#include <hip/hip_runtime.h>

__global__ void tell(const int* a, const int* b, const int* c, int* out) {
    out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x] + c[threadIdx.x];
}

extern "C" void run(const float* x, int64_t n, int* out, hipStream_t stream) {
    int* memory;
    hipMalloc(&memory, 3 * 64 * sizeof(int));
    hipMemset(memory, 0, 64 * sizeof(int));
    hipMemsetAsync(memory + 64, 1, 64 * sizeof(int), stream);
    hipMemsetD32(memory + 128, 5, 64);
    tell<<<1, 64, 0, stream>>>(memory, memory + 64, memory + 128, out);
    hipFree(memory);
}
