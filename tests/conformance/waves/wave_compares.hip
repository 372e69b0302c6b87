#include <hip/hip_runtime.h>
// Comparisons into a mask of lanes, and a mask back into lanes.
__global__ void compare(const int* x, long* out, int* chosen) {
    int lane = threadIdx.x;
    out[lane] = long(__builtin_amdgcn_sicmp(x[lane], 10, 40));                      // signed less
    out[64 + lane] = long(__builtin_amdgcn_uicmp(unsigned(x[lane]), 10u, 34));      // unsigned greater
    out[128 + lane] = long(__builtin_amdgcn_uicmp(unsigned(x[lane]) & 1, 0u, 32));  // equal
    chosen[lane] = __builtin_amdgcn_inverse_ballot_w64(0x8000000100000005ull) + 2 * __lane_id();
}

extern "C" void run(const int* x, int64_t, long* out, int* chosen, hipStream_t stream) {
    compare<<<1, 64, 0, stream>>>(x, out, chosen);
}
