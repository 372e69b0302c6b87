#include <hip/hip_runtime.h>
// An inclusive maximum over 64 lanes and the exclusive one made of it by a wave shift.
template <int kControl, int kRows>
__device__ int upto(int most) { return max(most, __builtin_amdgcn_update_dpp(INT_MIN, most, kControl, kRows, 0xf, false)); }

__global__ void scan(const int* x, int* out) {
    int most = x[threadIdx.x];
    most = upto<0x111, 0xf>(most);
    most = upto<0x112, 0xf>(most);
    most = upto<0x114, 0xf>(most);
    most = upto<0x118, 0xf>(most);
    most = upto<0x142, 0xa>(most);
    most = upto<0x143, 0xc>(most);
    out[threadIdx.x] = most;
    out[64 + threadIdx.x] = __builtin_amdgcn_update_dpp(-5000, most, 0x138, 0xf, 0xf, false);
}

extern "C" void run(const int* x, int64_t, int* out, hipStream_t stream) { scan<<<1, 64, 0, stream>>>(x, out); }
