#include <hip/hip_runtime.h>

struct Shape {
    int64_t sizes[4];
    int dims;
    float scale;
};
__global__ void scale(const float* x, float* out, Shape shape) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < shape.sizes[shape.dims - 1]) out[i] = x[i] * shape.scale;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    Shape shape{{1, 1, n, 0}, 3, 4.0f};
    scale<<<(n + 255) / 256, 256, 0, stream>>>(x, out, shape);
}
