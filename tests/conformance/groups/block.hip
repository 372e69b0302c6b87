#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void turn(const int* x, int* out) {
    __shared__ int tile[256];
    cg::thread_block block = cg::this_thread_block();
    tile[block.thread_rank()] = x[blockIdx.x * block.size() + block.thread_rank()];
    block.sync();
    out[blockIdx.x * 256 + threadIdx.x] = tile[block.size() - 1 - block.thread_rank()];
}

extern "C" void run(const int* x, int64_t n, int* out, hipStream_t stream) {
    turn<<<n / 256, 256, 0, stream>>>(x, out);
}
