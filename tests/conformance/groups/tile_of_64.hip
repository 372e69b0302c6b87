#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void sums(const int* x, int* out) {
    auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    int i = blockIdx.x * 256 + threadIdx.x, value = x[i];
    for (int step = tile.size() / 2; step; step /= 2) value += tile.shfl_down(value, step);
    value = tile.shfl(value, 0);
    out[i] = value + tile.thread_rank();
}

extern "C" void run(const int* x, int64_t n, int* out, hipStream_t stream) {
    sums<<<n / 256, 256, 0, stream>>>(x, out);
}
