#include <hip/hip_runtime.h>
#include <torch/extension.h>

__global__ void row_loss(const float* logits, const int64_t* target, float* loss, int rows, int classes) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    const float* x = logits + row * classes;
    float m = -INFINITY;
    for (int c = threadIdx.x; c < classes; c += 32) m = fmaxf(m, x[c]);
    for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor(m, o, 32));
    float s = 0;
    for (int c = threadIdx.x; c < classes; c += 32) s += __expf(x[c] - m);
    for (int o = 16; o; o >>= 1) s += __shfl_xor(s, o, 32);
    if (threadIdx.x == 0) loss[row] = __logf(s) + m - x[target[row]];
}

__global__ void mean(const float* loss, float* out, int rows) {
    __shared__ double s[256];
    double sum = 0;
    for (int i = threadIdx.x; i < rows; i += 256) sum += loss[i];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int k = 128; k > 0; k /= 2) {
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    if (!threadIdx.x) *out = s[0] / rows;
}

torch::Tensor forward(torch::Tensor logits, torch::Tensor target) {
    TORCH_CHECK(target.scalar_type() == torch::kLong, "target must be int64");
    logits = logits.contiguous(), target = target.contiguous();
    const int rows = logits.size(0);
    auto options = torch::TensorOptions().dtype(torch::kFloat32).device(logits.device());
    auto loss = torch::empty(rows, options), out = torch::empty({}, options);
    row_loss<<<(rows + 3) / 4, dim3(32, 4)>>>(logits.data_ptr<float>(), target.data_ptr<int64_t>(), loss.data_ptr<float>(), rows, logits.size(1));
    mean<<<1, 256>>>(loss.data_ptr<float>(), out.data_ptr<float>(), rows);
    return out;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
