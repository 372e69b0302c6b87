// Double-buffered tiles: the next is in registers while this one is used; bias and GELU in the epilogue.
#include <ATen/cuda/CUDAContext.h>
#include <hip/hip_runtime.h>
#include <torch/extension.h>

#define CHECK_CUDA(x) TORCH_CHECK(x.device().is_cuda(), #x " must be a CUDA tensor")
#define CHECK_CONTIGUOUS(x) TORCH_CHECK(x.is_contiguous(), #x " must be contiguous")
#define CHECK_INPUT(x) CHECK_CUDA(x); CHECK_CONTIGUOUS(x)

constexpr int TILE = 16;

__device__ __forceinline__ float gelu_tanh(float x) {
    constexpr float kBeta = M_SQRT2 * M_2_SQRTPI * 0.5, kKappa = 0.044715;
    return 0.5f * x * (1.f + tanhf(kBeta * (x + kKappa * x * x * x)));
}

template <typename scalar_t>
__global__ void linear(const scalar_t* __restrict__ x, const scalar_t* __restrict__ w, const scalar_t* __restrict__ bias,
                       scalar_t* __restrict__ y, int M, int N, int K) {
    __shared__ float xs[2][TILE][TILE + 1], ws[2][TILE][TILE + 1];
    const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    const int wrow = blockIdx.x * TILE + ty;
    auto fetch_x = [&](int k) { return row < M && k < K ? static_cast<float>(x[row * K + k]) : 0.f; };
    auto fetch_w = [&](int k) { return wrow < N && k < K ? static_cast<float>(w[wrow * K + k]) : 0.f; };
    xs[0][ty][tx] = fetch_x(tx);
    ws[0][ty][tx] = fetch_w(tx);
    __syncthreads();
    float acc = 0.f;
    const int tiles = (K + TILE - 1) / TILE;
    for (int t = 0; t < tiles; ++t) {
        const int cur = t & 1;
        float nx = 0.f, nw = 0.f;
        if (t + 1 < tiles) {
            nx = fetch_x((t + 1) * TILE + tx);
            nw = fetch_w((t + 1) * TILE + tx);
        }
#pragma unroll
        for (int k = 0; k < TILE; ++k) acc += xs[cur][ty][k] * ws[cur][tx][k];
        if (t + 1 < tiles) {
            xs[cur ^ 1][ty][tx] = nx;
            ws[cur ^ 1][ty][tx] = nw;
        }
        __syncthreads();
    }
    if (row < M && col < N) y[row * N + col] = static_cast<scalar_t>(gelu_tanh(acc + static_cast<float>(bias[col])));
}

torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, int64_t inputs, int64_t outputs) {
    x = x.contiguous();
    CHECK_INPUT(x);
    CHECK_INPUT(weight);
    const int M = x.size(0), K = x.size(1), N = weight.size(0);
    auto y = x.new_empty({M, N});
    const dim3 block(TILE, TILE), grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    cudaStream_t stream = at::cuda::getCurrentCUDAStream().stream();
    AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::Half, at::ScalarType::BFloat16, x.scalar_type(), "linear", [&]() {
        linear<scalar_t><<<grid, block, 0, stream>>>(x.const_data_ptr<scalar_t>(), weight.const_data_ptr<scalar_t>(),
                                                     bias.const_data_ptr<scalar_t>(), y.mutable_data_ptr<scalar_t>(), M, N, K);
    });
    AT_CUDA_CHECK(cudaGetLastError());
    return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "linear and GELU (CUDA)"); }
