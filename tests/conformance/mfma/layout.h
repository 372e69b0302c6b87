// Matrices of a wave in registers, by AMD's Matrix Instruction Calculator: M rows and columns, BLOCKS products at once,
// each with rows in order in memory.
#pragma once
#include <hip/hip_runtime.h>

template <class T, int N>
using Vector = T __attribute__((ext_vector_type(N)));

// Lane l holds row l % M of A, PER numbers along k.
template <int M, int BLOCKS, int PER, class V, class T>
__device__ V load_a(const T* a) {
    constexpr int K = PER * 64 / M / BLOCKS;
    int group = threadIdx.x / M, block = group % BLOCKS, k = group / BLOCKS * PER;
    T row[PER];
    for (int j = 0; j < PER; j++) row[j] = a[(block * M + threadIdx.x % M) * K + k + j];
    return __builtin_bit_cast(V, row);
}

// Lane l holds column l % M of B.
template <int M, int BLOCKS, int PER, class V, class T>
__device__ V load_b(const T* b) {
    constexpr int K = PER * 64 / M / BLOCKS;
    int group = threadIdx.x / M, block = group % BLOCKS, k = group / BLOCKS * PER;
    T column[PER];
    for (int j = 0; j < PER; j++) column[j] = b[(block * K + k + j) * M + threadIdx.x % M];
    return __builtin_bit_cast(V, column);
}

// Where value v of a lane is in C and D.
template <int M>
__device__ int place(int v) {
    int group = threadIdx.x / M, column = threadIdx.x % M;
    if (M == 4) return (group * 4 + v) * 4 + column;
    if (M == 16) return (v / 4 * 16 + 4 * group + v % 4) * 16 + column;
    return (v / 16 * 32 + 8 * (v % 16 / 4) + 4 * group + v % 4) * 32 + column;
}

template <int M, int BLOCKS, class S>
__device__ Vector<S, M * M * BLOCKS / 64> load_c(const S* c) {
    Vector<S, M * M * BLOCKS / 64> values;
    for (int v = 0; v < M * M * BLOCKS / 64; v++) values[v] = c[place<M>(v)];
    return values;
}

template <int M, class V, class S>
__device__ void store_d(V values, S* d) {
    for (int v = 0; v < int(sizeof(V) / sizeof(S)); v++) d[place<M>(v)] = values[v];
}

// A kernel of the instruction `name`: operands of type V with PER numbers of type T.
#define PRODUCT(name, M, BLOCKS, PER, V, T, S)                                                                             \
    __global__ void name(const T* a, const T* b, const S* c, S* d) {                                                       \
        auto sum = __builtin_amdgcn_mfma_##name(load_a<M, BLOCKS, PER, V>(a), load_b<M, BLOCKS, PER, V>(b),                \
                                                load_c<M, BLOCKS>(c), 0, 0, 0);                                            \
        store_d<M>(sum, d);                                                                                                \
    }

// Runs kernels one after another, on operands that follow one another.
template <class T, class S>
struct Series {
    const T* a;
    const T* b;
    const S* c;
    S* d;
    hipStream_t stream;

    void run(void (*kernel)(const T*, const T*, const S*, S*), int m, int blocks, int k) {
        kernel<<<1, 64, 0, stream>>>(a, b, c, d);
        a += blocks * m * k, b += blocks * m * k, c += blocks * m * m, d += blocks * m * m;
    }
};
