// Softmax over the last dimension.
#include <hip/hip_runtime.h>
#include <torch/extension.h>

constexpr int THREADS = 256;

__global__ void softmax_kernel(const float* __restrict__ x, float* __restrict__ y, int columns) {
    __shared__ float shared[THREADS];
    const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
    float* out = y + static_cast<size_t>(blockIdx.x) * columns;
    const int tid = threadIdx.x;

    float largest = -INFINITY;
    for (int i = tid; i < columns; i += THREADS) {
        largest = fmaxf(largest, row[i]);
    }
    shared[tid] = largest;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s >>= 1) {
        if (tid < s) shared[tid] = fmaxf(shared[tid], shared[tid + s]);
        __syncthreads();
    }
    largest = shared[0];
    __syncthreads();

    float sum = 0.0f;
    for (int i = tid; i < columns; i += THREADS) {
        const float e = expf(row[i] - largest);
        out[i] = e;
        sum += e;
    }
    shared[tid] = sum;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s >>= 1) {
        if (tid < s) shared[tid] += shared[tid + s];
        __syncthreads();
    }
    const float scale = 1.0f / shared[0];
    for (int i = tid; i < columns; i += THREADS) {
        out[i] *= scale;
    }
}

torch::Tensor forward(torch::Tensor x) {
    x = x.contiguous();
    auto y = torch::empty_like(x);
    const int columns = x.size(-1);
    const int rows = x.numel() / columns;
    softmax_kernel<<<rows, THREADS>>>(x.data_ptr<float>(), y.data_ptr<float>(), columns);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "Softmax over the last dimension"); }
