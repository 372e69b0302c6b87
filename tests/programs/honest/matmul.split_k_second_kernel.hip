// Partial products of each split in a workspace, summed by a second kernel in a fixed order.
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

template <typename T> __global__ void partial(const T* a, const T* b, float* work, int m, int n, int k, int splits) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y, split = blockIdx.z;
    if (col >= n) return;
    float sum = 0.f;
    for (int i = split; i < k; i += splits) sum += float(a[row * k + i]) * float(b[i * n + col]);
    work[(split * m + row) * n + col] = sum;
}

template <typename T> __global__ void finish(const float* work, T* c, int total, int splits) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total) return;
    float sum = 0.f;
    for (int s = 0; s < splits; s++) sum += work[s * total + i];
    c[i] = T(sum);
}

template <typename T> void go(const T* a, const T* b, int m, int k, int n, T* c, hipStream_t s) {
    const int splits = 4;
    float* work;
    if (hipMalloc(&work, sizeof(float) * splits * m * n) != hipSuccess) abort();
    partial<T><<<dim3((n + 63) / 64, m, splits), 64, 0, s>>>(a, b, work, m, n, k, splits);
    finish<T><<<(m * n + 255) / 256, 256, 0, s>>>(work, c, m * n, splits);
    hipFree(work);
}
#define L(name, T) \
    extern "C" void name(const T* a, const T* b, int64_t m, int64_t k, int64_t, int64_t n, T* c, hipStream_t s) { go(a, b, m, k, n, c, s); }
L(run, float)
L(run_float16, __half)
L(run_bfloat16, __hip_bfloat16)
