// Up-sweep and down-sweep with padding against bank conflicts; block sums are scanned and added by kernels of their own.
#include <hip/hip_runtime.h>
#include <torch/extension.h>

#define PAD(i) ((i) + ((i) >> 5))
constexpr int kThreads = 128, kItems = 2 * kThreads;

__global__ void prescan(const float* in, float* out, float* sums, int cols, int chunks) {
    __shared__ float s[PAD(kItems) + 1];
    const int row = blockIdx.y, base = blockIdx.x * kItems, t = threadIdx.x;
    const int ai = t, bi = t + kThreads;
    const float a = base + ai < cols ? in[row * cols + base + ai] : 0.f, b = base + bi < cols ? in[row * cols + base + bi] : 0.f;
    s[PAD(ai)] = a;
    s[PAD(bi)] = b;
    int offset = 1;
    for (int d = kItems >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) s[PAD(offset * (2 * t + 2) - 1)] += s[PAD(offset * (2 * t + 1) - 1)];
        offset <<= 1;
    }
    if (t == 0) {
        sums[row * chunks + blockIdx.x] = s[PAD(kItems - 1)];
        s[PAD(kItems - 1)] = 0;
    }
    for (int d = 1; d < kItems; d <<= 1) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            const int i = PAD(offset * (2 * t + 1) - 1), j = PAD(offset * (2 * t + 2) - 1);
            const float v = s[i];
            s[i] = s[j];
            s[j] += v;
        }
    }
    __syncthreads();
    if (base + ai < cols) out[row * cols + base + ai] = s[PAD(ai)] + a;
    if (base + bi < cols) out[row * cols + base + bi] = s[PAD(bi)] + b;
}

__global__ void add_sums(float* out, const float* sums, int cols, int chunks) {
    const int row = blockIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cols) return;
    float before = 0;
    for (int i = 0; i < c / kItems; i++) before += sums[row * chunks + i];
    out[row * cols + c] += before;
}

torch::Tensor forward(torch::Tensor x) {
    CHECK_DEVICE: {
        TORCH_CHECK(x.device().is_cuda());
    }
    x = x.contiguous();
    const int rows = x.size(0), cols = x.size(1), chunks = (cols + kItems - 1) / kItems;
    auto y = torch::empty_like(x), sums = torch::empty({rows, chunks}, x.options());
    prescan<<<dim3(chunks, rows), kThreads>>>(x.data_ptr<float>(), y.data_ptr<float>(), sums.data_ptr<float>(), cols, chunks);
    if (chunks > 1) add_sums<<<dim3((cols + 255) / 256, rows), 256>>>(y.data_ptr<float>(), sums.data_ptr<float>(), cols, chunks);
    return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
