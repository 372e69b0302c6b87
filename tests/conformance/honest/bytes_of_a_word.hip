#include <hip/hip_runtime.h>

__global__ void bytes(const float* x, float* out) {
    __shared__ unsigned char tile[256];
    tile[threadIdx.x] = (unsigned char)threadIdx.x;
    tile[threadIdx.x] += tile[threadIdx.x] & 1;
    __syncthreads();
    unsigned word = reinterpret_cast<const unsigned*>(tile)[threadIdx.x / 4];
    __syncthreads();
    reinterpret_cast<signed char*>(tile)[threadIdx.x ^ 3] = (signed char)(word >> 8 * (threadIdx.x % 4));
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x] + 0 * x[threadIdx.x];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    bytes<<<1, 256, 0, stream>>>(x, out);
}
