#include <hip/hip_runtime.h>

__device__ int in_global;

__global__ void about(int* out) {
    __shared__ int shared[64];
    int own = threadIdx.x, block = __builtin_amdgcn_workgroup_id_x();
    int* mine = out + (block * 64 + own) * 6;
    mine[0] = __builtin_amdgcn_is_shared((void*)shared) + 2 * __builtin_amdgcn_is_shared((void*)&own) + 4 * __builtin_amdgcn_is_shared((void*)out);
    mine[1] = __builtin_amdgcn_is_private((void*)shared) + 2 * __builtin_amdgcn_is_private((void*)&own) + 4 * __builtin_amdgcn_is_private((void*)&in_global);
    mine[2] = __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workgroup_size_y();
    mine[3] = __builtin_amdgcn_grid_size_x();
    mine[4] = __lane_id();
    // Its parameter is an int.
    mine[5] = __builtin_amdgcn_readfirstlane(7l + own + (1l << 40)) + __builtin_amdgcn_readlane(own, 3);
}

extern "C" void run(const float* x, int64_t n, int* out, hipStream_t stream) { about<<<3, 64, 0, stream>>>(out); }
