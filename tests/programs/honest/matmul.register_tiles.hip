// 64x64 tile, 4x4 outputs a thread, two LDS buffers, fp32 sums.
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

constexpr int BM = 64, BN = 64, BK = 8, TM = 4, TN = 4;

template <typename T> __global__ void __launch_bounds__(256) sgemm(const T* A, const T* B, T* C, int M, int N, int K) {
    __shared__ float As[2][BK][BM + 4], Bs[2][BK][BN];
    const int tid = threadIdx.x, tx = tid % (BN / TN), ty = tid / (BN / TN);
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    float acc[TM][TN] = {};
    auto load = [&](int buf, int k0) {
        for (int i = tid; i < BM * BK; i += 256) {
            int r = i / BK, k = i % BK;
            As[buf][k][r] = (row0 + r < M && k0 + k < K) ? float(A[(row0 + r) * K + k0 + k]) : 0.f;
        }
        for (int i = tid; i < BN * BK; i += 256) {
            int k = i / BN, c = i % BN;
            Bs[buf][k][c] = (col0 + c < N && k0 + k < K) ? float(B[(k0 + k) * N + col0 + c]) : 0.f;
        }
    };
    load(0, 0);
    __syncthreads();
    int buf = 0;
    for (int k0 = 0; k0 < K; k0 += BK) {
        if (k0 + BK < K) load(buf ^ 1, k0 + BK);
#pragma unroll
        for (int k = 0; k < BK; k++) {
            float a[TM], b[TN];
            *reinterpret_cast<float4*>(a) = *reinterpret_cast<float4*>(&As[buf][k][ty * TM]);
            *reinterpret_cast<float4*>(b) = *reinterpret_cast<float4*>(&Bs[buf][k][tx * TN]);
#pragma unroll
            for (int i = 0; i < TM; i++)
#pragma unroll
                for (int j = 0; j < TN; j++) acc[i][j] += a[i] * b[j];
        }
        __syncthreads();
        buf ^= 1;
    }
    for (int i = 0; i < TM; i++)
        for (int j = 0; j < TN; j++) {
            int r = row0 + ty * TM + i, c = col0 + tx * TN + j;
            if (r < M && c < N) C[r * N + c] = T(acc[i][j]);
        }
}

#define RUN(name, T)                                                                                                   \
    extern "C" void name(const T* a, const T* b, int64_t m, int64_t k, int64_t b_0, int64_t n, T* out, hipStream_t s) { \
        sgemm<T><<<dim3((n + BN - 1) / BN, (m + BM - 1) / BM), 256, 0, s>>>(a, b, out, m, n, k);                        \
    }
RUN(run, float)
RUN(run_float16, __half)
RUN(run_bfloat16, __hip_bfloat16)
