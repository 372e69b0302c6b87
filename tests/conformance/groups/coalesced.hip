#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void compact(const int* x, int* out) {
    int i = blockIdx.x * 64 + threadIdx.x;
    out[i] = -1;
    if (x[i] > 0) {
        cg::coalesced_group active = cg::coalesced_threads();
        out[i] = active.thread_rank() * 1000 + active.size();
    }
}

extern "C" void run(const int* x, int64_t n, int* out, hipStream_t stream) {
    compact<<<n / 64, 64, 0, stream>>>(x, out);
}
