// Copies to the output, then rotates it in place, a wave a head.
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

template <typename T> __global__ void rotate(T* y, const T* c, const T* s, int heads, int width) {
    const int head = blockIdx.x * blockDim.y + threadIdx.y;
    if (head >= heads) return;
    T* row = y + (blockIdx.y * heads + head) * width;
    for (int d = threadIdx.x; d < width / 2; d += blockDim.x) {
        const float a = row[d], b = row[d + width / 2];
        const int at = blockIdx.y * width + d;
        row[d] = T(a * float(c[at]) - b * float(s[at]));
        row[d + width / 2] = T(b * float(c[at + width / 2]) + a * float(s[at + width / 2]));
    }
}

#define L(name, T)                                                                                                              \
    extern "C" void name(const T* x, const T* c, const T* s, int64_t n, int64_t h, int64_t d, int64_t, int64_t, int64_t, int64_t, \
                         T* out, hipStream_t stream) {                                                                          \
        hipMemcpyAsync(out, x, n * h * d * sizeof(T), hipMemcpyDeviceToDevice, stream);                                          \
        rotate<T><<<dim3((h + 1) / 2, n), dim3(16, 2), 0, stream>>>(out, c, s, h, d);                                            \
    }
L(run, float)
L(run_float16, _Float16)
L(run_bfloat16, __hip_bfloat16)
