// The row lies in dynamic LDS (more than 48 KiB are asked for); cooperative groups reduce.
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_runtime.h>
#include <torch/extension.h>

namespace cg = cooperative_groups;

template <typename T>
__global__ void softmax_shared(const T* __restrict__ x, T* __restrict__ y, int n) {
    extern __shared__ __align__(16) unsigned char raw[];
    float* row = reinterpret_cast<float*>(raw);
    __shared__ float partial[8];
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    x += size_t(blockIdx.x) * n;
    y += size_t(blockIdx.x) * n;
    float top = -INFINITY;
    for (int i = block.thread_rank(); i < n; i += block.size()) {
        row[i] = float(x[i]);
        top = fmaxf(top, row[i]);
    }
    for (int o = tile.size() / 2; o > 0; o /= 2) top = fmaxf(top, tile.shfl_down(top, o));
    if (tile.thread_rank() == 0) partial[block.thread_rank() / 32] = top;
    block.sync();
    for (int i = 0; i < 8; i++) top = fmaxf(top, partial[i]);
    top = tile.shfl(top, 0);
    block.sync();
    float sum = 0;
    for (int i = block.thread_rank(); i < n; i += block.size()) sum += row[i] = expf(row[i] - top);
    for (int o = tile.size() / 2; o > 0; o /= 2) sum += tile.shfl_xor(sum, o);
    if (tile.thread_rank() == 0) partial[block.thread_rank() / 32] = sum;
    cg::sync(block);
    sum = 0;
    for (int i = 0; i < 8; i++) sum += partial[i];
    for (int i = block.thread_rank(); i < n; i += block.size()) y[i] = T(row[i] / sum);
}

torch::Tensor softmax_forward(const torch::Tensor& input) {
    auto x = input.contiguous();
    auto y = torch::empty(x.sizes(), x.options());
    int n = x.size(1), rows = x.size(0);
    constexpr int kBytes = 60 * 1024;
    AT_DISPATCH_FLOATING_TYPES_AND2(torch::kHalf, torch::kBFloat16, x.scalar_type(), "softmax_shared", [&] {
        auto kernel = softmax_shared<scalar_t>;
        hipFuncSetAttribute(reinterpret_cast<const void*>(kernel), hipFuncAttributeMaxDynamicSharedMemorySize, kBytes);
        kernel<<<rows, 256, kBytes>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), n);
    });
    TORCH_CHECK(hipGetLastError() == hipSuccess);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &softmax_forward); }
