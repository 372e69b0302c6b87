#include <hip/hip_runtime.h>

__global__ void places(int* out) {
    int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    int i = block * blockDim.x * blockDim.y * blockDim.z + thread;
    out[i] = i * 8 + blockIdx.z + threadIdx.y;
}

extern "C" void run(const float* x, int64_t n, int* out, hipStream_t stream) {
    places<<<dim3(3, 2, 4), dim3(8, 4, 2), 0, stream>>>(out);
}
