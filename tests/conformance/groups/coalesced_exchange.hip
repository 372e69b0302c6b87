#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void leaders(const int* x, int* out) {
    int i = blockIdx.x * 64 + threadIdx.x;
    out[i] = 0;
    if (x[i] % 3 == 0) {
        cg::coalesced_group active = cg::coalesced_threads();
        out[i] = active.shfl(x[i], 0);
    }
}

extern "C" void run(const int* x, int64_t n, int* out, hipStream_t stream) {
    leaders<<<n / 64, 64, 0, stream>>>(x, out);
}
