// Two buffers in LDS, chunk after chunk with a carry.
#include <hip/hip_runtime.h>

__global__ void scan(const float* x, float* y, int n) {
    extern __shared__ float temp[];
    const int t = threadIdx.x, b = blockDim.x;
    float carry = 0;
    for (int begin = 0; begin < n; begin += b) {
        int pout = 0, pin = 1;
        temp[t] = begin + t < n ? x[blockIdx.x * n + begin + t] : 0;
        __syncthreads();
        for (int offset = 1; offset < b; offset *= 2) {
            pout = 1 - pout;
            pin = 1 - pout;
            if (t >= offset)
                temp[pout * b + t] = temp[pin * b + t] + temp[pin * b + t - offset];
            else
                temp[pout * b + t] = temp[pin * b + t];
            __syncthreads();
        }
        if (begin + t < n) y[blockIdx.x * n + begin + t] = carry + temp[pout * b + t];
        carry += temp[pout * b + b - 1];
        __syncthreads();
    }
}

extern "C" void run(const float* x, int64_t rows, int64_t cols, float* out, hipStream_t stream) {
    scan<<<rows, 256, 2 * 256 * sizeof(float), stream>>>(x, out, cols);
}
