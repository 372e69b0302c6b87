#include <hip/hip_cooperative_groups.h>
#include <hip/hip_runtime.h>
namespace cg = cooperative_groups;

template <int TILE> __device__ float2 tile_sum(cg::thread_block_tile<TILE> tile, float2 v) {
#pragma unroll
    for (int o = TILE / 2; o > 0; o >>= 1) {
        v.x += tile.shfl_xor(v.x, o);
        v.y += tile.shfl_xor(v.y, o);
    }
    return v;
}

__global__ void group_norm(const float* x, const float* w, const float* b, float* y, int channels, int plane, int groups) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<64>(block);
    __shared__ float2 parts[4];
    const int per_group = channels / groups, n = per_group * plane, g = blockIdx.x % groups;
    const size_t base = size_t(blockIdx.x) * n;
    float2 v{0.f, 0.f};
    for (int i = threadIdx.x; i < n; i += 256) {
        const float e = x[base + i];
        v.x += e;
        v.y += e * e;
    }
    v = tile_sum<64>(tile, v);
    if (tile.thread_rank() == 0) parts[tile.meta_group_rank()] = v;
    block.sync();
    float2 all{0.f, 0.f};
    for (int i = 0; i < 4; i++) all.x += parts[i].x, all.y += parts[i].y;
    const float mean = all.x / n, rstd = rsqrtf(fmaxf(all.y / n - mean * mean, 0.f) + 1e-5f);
    for (int i = threadIdx.x; i < n; i += 256) {
        const int c = g * per_group + i / plane;
        y[base + i] = (x[base + i] - mean) * rstd * w[c] + b[c];
    }
}

extern "C" void run(const float* x, const float* w, const float* b, int64_t groups, int64_t channels, int64_t n, int64_t c, int64_t h,
                    int64_t wd, int64_t, int64_t, float* out, hipStream_t s) {
    group_norm<<<n * groups, 256, 0, s>>>(x, w, b, out, c, h * wd, groups);
}
