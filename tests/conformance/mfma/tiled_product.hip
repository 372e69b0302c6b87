#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>

// 64 x 64 of C for each block of four waves, tiles of 32 along k in LDS, 2 x 2 accumulators of 16 x 16 for each wave.
using half4 = _Float16 __attribute__((ext_vector_type(4)));
using float4_t = float __attribute__((ext_vector_type(4)));

__global__ __launch_bounds__(256) void gemm(const _Float16* a, const _Float16* b, float* c, int n, int depth) {
    __shared__ _Float16 rows[64][36], columns[64][36];
    int lane = threadIdx.x % 64, wave = threadIdx.x / 64, top = wave / 2 * 32, left = wave % 2 * 32;
    float4_t sums[2][2] = {};
    for (int k = 0; k < depth; k += 32) {
        for (int i = threadIdx.x; i < 64 * 32; i += 256) {
            rows[i / 32][i % 32] = a[(blockIdx.y * 64 + i / 32) * depth + k + i % 32];
            columns[i % 64][i / 64] = b[(k + i / 64) * n + blockIdx.x * 64 + i % 64];
        }
        __syncthreads();
        for (int step = 0; step < 32; step += 16)
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++) {
                    half4 x = *(half4*)&rows[top + i * 16 + lane % 16][step + lane / 16 * 4];
                    half4 y = *(half4*)&columns[left + j * 16 + lane % 16][step + lane / 16 * 4];
                    sums[i][j] = __builtin_amdgcn_mfma_f32_16x16x16f16(x, y, sums[i][j], 0, 0, 0);
                }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            for (int v = 0; v < 4; v++)
                c[(blockIdx.y * 64 + top + i * 16 + lane / 16 * 4 + v) * n + blockIdx.x * 64 + left + j * 16 + lane % 16] =
                    sums[i][j][v];
}

extern "C" void run_float16(const _Float16* a, const _Float16* b, int64_t m, int64_t depth, int64_t, int64_t n, float* c,
                            hipStream_t stream) {
    gemm<<<dim3(n / 64, m / 64), 256, 0, stream>>>(a, b, c, n, depth);
}
