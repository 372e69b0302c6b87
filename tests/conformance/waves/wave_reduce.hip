#include <hip/hip_runtime.h>
// LLVM's own reductions of a wave.
__global__ void reduce(const int* x, const long* y, int* out, long* wide) {
    int lane = threadIdx.x, mine = x[lane];
    int results[] = {int(__builtin_amdgcn_wave_reduce_add_u32(mine, 0)), int(__builtin_amdgcn_wave_reduce_sub_u32(mine, 0)),
                     __builtin_amdgcn_wave_reduce_min_i32(mine, 0),      __builtin_amdgcn_wave_reduce_max_i32(mine, 0),
                     int(__builtin_amdgcn_wave_reduce_min_u32(mine, 0)), int(__builtin_amdgcn_wave_reduce_max_u32(mine, 0)),
                     __builtin_amdgcn_wave_reduce_and_b32(mine | 3, 0),  __builtin_amdgcn_wave_reduce_or_b32(mine, 0),
                     __builtin_amdgcn_wave_reduce_xor_b32(mine, 0)};
    for (int i = 0; i < 9; i++) out[i * 64 + lane] = results[i];
    wide[lane] = __builtin_amdgcn_wave_reduce_add_u64(y[lane], 0);
    wide[64 + lane] = __builtin_amdgcn_wave_reduce_max_i64(y[lane], 0);
}

extern "C" void run(const int* x, const long* y, int64_t, int64_t, int* out, long* wide, hipStream_t stream) {
    reduce<<<1, 64, 0, stream>>>(x, y, out, wide);
}
