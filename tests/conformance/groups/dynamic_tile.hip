#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void sums(const int* x, int* out) {
    __shared__ int tile_sum[256];
    cg::thread_group tile = cg::tiled_partition(cg::this_thread_block(), 8);
    int i = blockIdx.x * 256 + threadIdx.x;
    tile_sum[threadIdx.x] = x[i];
    tile.sync();
    int sum = 0;
    for (unsigned k = 0; k < tile.size(); k++) sum += tile_sum[threadIdx.x - tile.thread_rank() + k];
    out[i] = sum;
}

extern "C" void run(const int* x, int64_t n, int* out, hipStream_t stream) {
    sums<<<n / 256, 256, 0, stream>>>(x, out);
}
