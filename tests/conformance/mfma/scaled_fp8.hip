#include "layout.h"

// Lane l has numbers 16 (l / M) to + 15 along k of both halves of k, and the scale 2^(e - 127) of block l / M of 32.
using Vector8 = Vector<int, 8>;

template <int M>
__device__ Vector<int, 8> load(const unsigned char* from, int stride, int along) {
    constexpr int K = 32 * 64 / M;
    unsigned char numbers[32];
    for (int j = 0; j < 32; j++)
        numbers[j] = from[threadIdx.x % M * stride + (j / 16 * (K / 2) + threadIdx.x / M * 16 + j % 16) * along];
    return __builtin_bit_cast(Vector8, numbers);
}

__global__ void narrow(const unsigned char* a, const unsigned char* b, const unsigned char* as, const unsigned char* bs, float* d) {
    int row = threadIdx.x % 16, block = threadIdx.x / 16;
    Vector<float, 4> sum = {};
    sum = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(load<16>(a, 128, 1), load<16>(b, 1, 16), sum, 0, 1, 2,
                                                           as[row * 4 + block] << 16 | 0x55, 0, bs[block * 16 + row] | 0x7700);
    store_d<16>(sum, d);
}

__global__ void wide(const unsigned char* a, const unsigned char* b, const unsigned char* as, const unsigned char* bs, float* d) {
    int row = threadIdx.x % 32, block = threadIdx.x / 32;
    Vector<float, 16> sum = {};
    sum = __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(load<32>(a, 64, 1), load<32>(b, 1, 32), sum, 0, 1, 0, as[row * 2 + block],
                                                          0, bs[block * 32 + row]);
    store_d<32>(sum, d);
}

extern "C" void run(const unsigned char* a, const unsigned char* b, const unsigned char* as, const unsigned char* bs, int64_t, int64_t,
                    int64_t, int64_t, float* d, float* wide_d, hipStream_t stream) {
    narrow<<<1, 64, 0, stream>>>(a, b, as, bs, d);
    wide<<<1, 64, 0, stream>>>(a, b, as, bs, wide_d);
}
