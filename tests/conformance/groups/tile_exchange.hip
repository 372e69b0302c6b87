#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void exchange(const int* x, int* out) {
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int i = blockIdx.x * 128 + threadIdx.x;
    out[i] = tile.shfl_xor(x[i], 5) - tile.shfl_up(x[i], 1);
}

extern "C" void run(const int* x, int64_t n, int* out, hipStream_t stream) {
    exchange<<<n / 128, 128, 0, stream>>>(x, out);
}
