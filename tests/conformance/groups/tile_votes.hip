#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void votes(const int* x, int* out) {
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int i = blockIdx.x * 128 + threadIdx.x;
    unsigned long long mask = tile.ballot(x[i] > 0);
    out[i] = __popcll(mask) + 100 * tile.any(x[i] > 900) + 1000 * tile.all(x[i] > -900);
}

extern "C" void run(const int* x, int64_t n, int* out, hipStream_t stream) {
    votes<<<n / 128, 128, 0, stream>>>(x, out);
}
