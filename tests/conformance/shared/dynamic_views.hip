#include <hip/hip_runtime.h>

__global__ void both(const float* x, float* out) {
    extern __shared__ char memory[];
    float* values = reinterpret_cast<float*>(memory);
    int* places = reinterpret_cast<int*>(values + blockDim.x);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    values[threadIdx.x] = x[i];
    places[threadIdx.x] = (threadIdx.x * 5 + 3) % blockDim.x;
    __syncthreads();
    out[i] = values[places[threadIdx.x]];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    both<<<n / 64, 64, 64 * 8, stream>>>(x, out);
}
