// Matrix cores: f16 32x32x8, bf16 16x16x16 (1k), f32 16x16x4; ragged edges are loaded as zeros.
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

using half4 = __attribute__((__vector_size__(4 * sizeof(_Float16)))) _Float16;
using short4v = __attribute__((__vector_size__(4 * sizeof(short)))) short;
using floatx4 = __attribute__((__vector_size__(4 * sizeof(float)))) float;
using floatx16 = __attribute__((__vector_size__(16 * sizeof(float)))) float;

__global__ void gemm_f16(const _Float16* A, const _Float16* B, _Float16* C, int M, int N, int K) {
    const int lane = threadIdx.x, r = lane & 31, g = lane >> 5;
    const int m0 = blockIdx.y * 32, n0 = blockIdx.x * 32;
    floatx16 acc = {0};
    for (int k0 = 0; k0 < K; k0 += 8) {
        half4 a, b;
        for (int i = 0; i < 4; i++) {
            const int k = k0 + 4 * g + i;
            a[i] = (m0 + r < M && k < K) ? A[(m0 + r) * K + k] : (_Float16)0;
            b[i] = (n0 + r < N && k < K) ? B[k * N + n0 + r] : (_Float16)0;
        }
        acc = __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, acc, 0, 0, 0);
    }
#pragma unroll
    for (int i = 0; i < 16; i++) {
        const int m = m0 + 8 * (i / 4) + 4 * g + i % 4, n = n0 + r;
        if (m < M && n < N) C[m * N + n] = (_Float16)acc[i];
    }
}

__device__ short bits(__hip_bfloat16 v) { return __bfloat16_as_short(v); }

__global__ void gemm_bf16(const __hip_bfloat16* A, const __hip_bfloat16* B, __hip_bfloat16* C, int M, int N, int K) {
    __shared__ short As[16][16 + 4], Bs[16][16 + 4];
    const int lane = threadIdx.x, r = lane % 16, g = lane / 16, m0 = blockIdx.y * 16, n0 = blockIdx.x * 16;
    floatx4 acc = {0.f, 0.f, 0.f, 0.f};
    for (int k0 = 0; k0 < K; k0 += 16) {
        for (int i = lane; i < 256; i += 64) {
            const int y = i / 16, x = i % 16;
            As[y][x] = m0 + y < M && k0 + x < K ? bits(A[(m0 + y) * K + k0 + x]) : short(0);
            Bs[x][y] = n0 + x < N && k0 + y < K ? bits(B[(k0 + y) * N + n0 + x]) : short(0);
        }
        __syncthreads();
        short4v a = *reinterpret_cast<short4v*>(&As[r][4 * g]), b = *reinterpret_cast<short4v*>(&Bs[r][4 * g]);
        acc = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a, b, acc, 0, 0, 0);
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) {
        const int m = m0 + 4 * g + i, n = n0 + r;
        if (m < M && n < N) C[m * N + n] = __float2bfloat16(acc[i]);
    }
}

__global__ void gemm_f32(const float* A, const float* B, float* C, int M, int N, int K) {
    const int lane = threadIdx.x, r = lane % 16, g = lane / 16, m = blockIdx.y * 16 + r, n = blockIdx.x * 16 + r;
    floatx4 acc{};
    for (int k = g; k < (K + 3) / 4 * 4; k += 4) {
        const float a = m < M && k < K ? A[m * K + k] : 0.f, b = n < N && k < K ? B[k * N + n] : 0.f;
        acc = __builtin_amdgcn_mfma_f32_16x16x4f32(a, b, acc, 0, 0, 0);
    }
    for (int i = 0; i < 4; i++) {
        const int row = blockIdx.y * 16 + 4 * g + i;
        if (row < M && n < N) C[row * N + n] = acc[i];
    }
}

extern "C" void run(const float* a, const float* b, int64_t m, int64_t k, int64_t b_0, int64_t n, float* out, hipStream_t s) {
    gemm_f32<<<dim3((n + 15) / 16, (m + 15) / 16), 64, 0, s>>>(a, b, out, m, n, k);
}
extern "C" void run_float16(const _Float16* a, const _Float16* b, int64_t m, int64_t k, int64_t b_0, int64_t n, _Float16* out,
                            hipStream_t s) {
    gemm_f16<<<dim3((n + 31) / 32, (m + 31) / 32), 64, 0, s>>>(a, b, out, m, n, k);
}
extern "C" void run_bfloat16(const __hip_bfloat16* a, const __hip_bfloat16* b, int64_t m, int64_t k, int64_t b_0, int64_t n,
                             __hip_bfloat16* out, hipStream_t s) {
    gemm_bf16<<<dim3((n + 15) / 16, (m + 15) / 16), 64, 0, s>>>(a, b, out, m, n, k);
}
