// Matrix instructions. Layouts: "AMD Instinct MI300 ISA", matrix arithmetic instructions. With M = N rows and columns and
// B blocks: lane l holds A[l % M][K(l) + j] and B[K(l) + j][l % M], where K(l) = kPerLane (l / M / B) and its block is
// l / M % B; value v of D is at row 8 (v / 4) + 4 (l / M) + v % 4 for M = 32, 4 (l / M) + v % 4 for M = 16, v for M = 4.
// Products are summed in order of k, in the precision of D.
#include <cstdint>
#include <cstring>

#include "amdgcn.h"
#include "counters.h"
#include "model.h"
#include "narrow.h"
#include "scheduler.h"

using kv::kLanes;

namespace {

struct F32 {
    using Number = float;
    static float decode(float value) { return value; }
};
struct F64 {
    using Number = double;
    static double decode(double value) { return value; }
};
struct F16 {
    using Number = _Float16;
    static float decode(_Float16 value) { return float(value); }
};
struct Bf16 {
    using Number = uint16_t;
    static float decode(uint16_t bits) { return kv::from_bf16(bits); }
};
struct I8 {
    using Number = int8_t;
    static int decode(int8_t value) { return value; }
};
template <unsigned kMantissa>
struct F8 {
    using Number = uint8_t;
    static float decode(uint8_t bits) { return kv::TargetFloat8<kMantissa>::decode(bits); }
};

template <class A, class B, class D>
struct Operands {
    A a;
    B b;
    D d;
};

template <unsigned kSize, unsigned kBlocks, class DecodeA, class DecodeB, class A, class D, class Sum>
void multiply(uint64_t mask, void* const* arguments) {
    constexpr unsigned kPerLane = sizeof(A) / sizeof(typename DecodeA::Number);
    constexpr unsigned kGroups = kLanes / kSize / kBlocks, kDepth = kPerLane * kGroups;
    constexpr unsigned kValues = kSize * kSize * kBlocks / kLanes;
    static Sum a[kBlocks][kDepth][kSize], b[kBlocks][kDepth][kSize], d[kBlocks][kSize][kSize];
    using Lane = Operands<A, A, D>;
    memset(a, 0, sizeof a);
    memset(b, 0, sizeof b);
    memset(d, 0, sizeof d);
    auto place = [](unsigned lane, unsigned value, unsigned& at, unsigned& row) {
        unsigned group = lane / kSize;
        constexpr unsigned kPerBlock = kSize == 4 ? kValues : kValues / kBlocks;
        if (kSize == 4) at = group, row = value;
        else at = value / kPerBlock, row = 8 * (value % kPerBlock / 4) + 4 * group + value % 4;
    };
    for (unsigned lane = 0; lane < kLanes; lane++) {
        if (!(mask >> lane & 1)) continue;
        const Lane& mine = *static_cast<Lane*>(arguments[lane]);
        unsigned group = lane / kSize, in_block = group % kBlocks, first = group / kBlocks * kPerLane;
        for (unsigned j = 0; j < kPerLane; j++) {
            typename DecodeA::Number x;
            typename DecodeB::Number y;
            memcpy(&x, reinterpret_cast<const char*>(&mine.a) + j * sizeof x, sizeof x);
            memcpy(&y, reinterpret_cast<const char*>(&mine.b) + j * sizeof y, sizeof y);
            a[in_block][first + j][lane % kSize] = DecodeA::decode(x);
            b[in_block][first + j][lane % kSize] = DecodeB::decode(y);
        }
        for (unsigned v = 0; v < kValues; v++) {
            unsigned at, row;
            place(lane, v, at, row);
            memcpy(&d[at][row][lane % kSize], reinterpret_cast<const char*>(&mine.d) + v * sizeof(Sum), sizeof(Sum));
        }
    }
    for (unsigned n = 0; n < kBlocks; n++)
        for (unsigned k = 0; k < kDepth; k++)
            for (unsigned i = 0; i < kSize; i++)
                for (unsigned j = 0; j < kSize; j++) d[n][i][j] += a[n][k][i] * b[n][k][j];
    for (unsigned lane = 0; lane < kLanes; lane++) {
        if (!(mask >> lane & 1)) continue;
        Lane& mine = *static_cast<Lane*>(arguments[lane]);
        for (unsigned v = 0; v < kValues; v++) {
            unsigned at, row;
            place(lane, v, at, row);
            memcpy(reinterpret_cast<char*>(&mine.d) + v * sizeof(Sum), &d[at][row][lane % kSize], sizeof(Sum));
        }
    }
    kv::matrix_flops += 2ull * kSize * kSize * kDepth * kBlocks;
}

}  // namespace

// double-precision results interleave differently: value v of D is at row 4 v + l / 16.
static void multiply_f64(uint64_t mask, void* const* arguments) {
    using Lane = Operands<double, double, __kv_f64x4>;
    double a[4][16] = {}, b[4][16] = {};
    for (unsigned lane = 0; lane < kLanes; lane++)
        if (mask >> lane & 1) {
            const Lane& mine = *static_cast<Lane*>(arguments[lane]);
            a[lane / 16][lane % 16] = mine.a;
            b[lane / 16][lane % 16] = mine.b;
        }
    for (unsigned lane = 0; lane < kLanes; lane++)
        if (mask >> lane & 1)
            for (unsigned v = 0; v < 4; v++) {
                Lane& mine = *static_cast<Lane*>(arguments[lane]);
                for (unsigned k = 0; k < 4; k++) mine.d[v] += a[k][4 * v + lane / 16] * b[k][lane % 16];
            }
    kv::matrix_flops += 2 * 16 * 16 * 4;
}

#define KV_DEFINE(name, operand, sum, operation)                                                          \
    extern "C" sum __builtin_amdgcn_mfma_##name(operand a, operand b, sum d, int cbsz, int abid, int blgp) { \
        if (cbsz | abid | blgp) kv::stop(kv::Status::kUnsupported);                                       \
        Operands<operand, operand, sum> mine{a, b, d};                                                    \
        kv::wait_for_wave(KV_SITE, operation, &mine);                                                     \
        return mine.d;                                                                                    \
    }
#define KV_FLOAT(name, size, blocks, decode, operand, sum) \
    KV_DEFINE(f32_##name, operand, sum, (multiply<size, blocks, decode, decode, operand, sum, float>))
#define KV_MIXED(name, size, first, second, sum) \
    KV_DEFINE(f32_##name, long, sum, (multiply<size, 1, first, second, long, sum, float>))
#define KV_INTEGER(name, size, blocks, operand, sum) \
    KV_DEFINE(i32_##name, operand, sum, (multiply<size, blocks, I8, I8, operand, sum, int>))

KV_FLOAT(32x32x1f32, 32, 2, F32, float, __kv_f32x32)
KV_FLOAT(16x16x1f32, 16, 4, F32, float, __kv_f32x16)
KV_FLOAT(4x4x1f32, 4, 16, F32, float, __kv_f32x4)
KV_FLOAT(32x32x2f32, 32, 1, F32, float, __kv_f32x16)
KV_FLOAT(16x16x4f32, 16, 1, F32, float, __kv_f32x4)
KV_FLOAT(32x32x4f16, 32, 2, F16, __kv_f16x4, __kv_f32x32)
KV_FLOAT(16x16x4f16, 16, 4, F16, __kv_f16x4, __kv_f32x16)
KV_FLOAT(4x4x4f16, 4, 16, F16, __kv_f16x4, __kv_f32x4)
KV_FLOAT(32x32x8f16, 32, 1, F16, __kv_f16x4, __kv_f32x16)
KV_FLOAT(16x16x16f16, 16, 1, F16, __kv_f16x4, __kv_f32x4)
KV_FLOAT(32x32x2bf16, 32, 2, Bf16, __kv_i16x2, __kv_f32x32)
KV_FLOAT(16x16x2bf16, 16, 4, Bf16, __kv_i16x2, __kv_f32x16)
KV_FLOAT(4x4x2bf16, 4, 16, Bf16, __kv_i16x2, __kv_f32x4)
KV_FLOAT(32x32x4bf16, 32, 1, Bf16, __kv_i16x2, __kv_f32x16)
KV_FLOAT(16x16x8bf16, 16, 1, Bf16, __kv_i16x2, __kv_f32x4)
KV_FLOAT(32x32x4bf16_1k, 32, 2, Bf16, __kv_i16x4, __kv_f32x32)
KV_FLOAT(16x16x4bf16_1k, 16, 4, Bf16, __kv_i16x4, __kv_f32x16)
KV_FLOAT(4x4x4bf16_1k, 4, 16, Bf16, __kv_i16x4, __kv_f32x4)
KV_FLOAT(32x32x8bf16_1k, 32, 1, Bf16, __kv_i16x4, __kv_f32x16)
KV_FLOAT(16x16x16bf16_1k, 16, 1, Bf16, __kv_i16x4, __kv_f32x4)
KV_FLOAT(32x32x16_f16, 32, 1, F16, __kv_f16x8, __kv_f32x16)
KV_FLOAT(16x16x32_f16, 16, 1, F16, __kv_f16x8, __kv_f32x4)
KV_FLOAT(32x32x16_bf16, 32, 1, Bf16, __kv_bf16x8, __kv_f32x16)
KV_FLOAT(16x16x32_bf16, 16, 1, Bf16, __kv_bf16x8, __kv_f32x4)
KV_MIXED(32x32x16_fp8_fp8, 32, F8<3>, F8<3>, __kv_f32x16)
KV_MIXED(16x16x32_fp8_fp8, 16, F8<3>, F8<3>, __kv_f32x4)
KV_MIXED(32x32x16_fp8_bf8, 32, F8<3>, F8<2>, __kv_f32x16)
KV_MIXED(16x16x32_fp8_bf8, 16, F8<3>, F8<2>, __kv_f32x4)
KV_MIXED(32x32x16_bf8_fp8, 32, F8<2>, F8<3>, __kv_f32x16)
KV_MIXED(16x16x32_bf8_fp8, 16, F8<2>, F8<3>, __kv_f32x4)
KV_MIXED(32x32x16_bf8_bf8, 32, F8<2>, F8<2>, __kv_f32x16)
KV_MIXED(16x16x32_bf8_bf8, 16, F8<2>, F8<2>, __kv_f32x4)
KV_INTEGER(32x32x4i8, 32, 2, int, __kv_i32x32)
KV_INTEGER(16x16x4i8, 16, 4, int, __kv_i32x16)
KV_INTEGER(4x4x4i8, 4, 16, int, __kv_i32x4)
KV_INTEGER(32x32x8i8, 32, 1, int, __kv_i32x16)
KV_INTEGER(16x16x16i8, 16, 1, int, __kv_i32x4)
KV_INTEGER(32x32x16_i8, 32, 1, long, __kv_i32x16)
KV_INTEGER(16x16x32_i8, 16, 1, long, __kv_i32x4)
KV_INTEGER(32x32x32_i8, 32, 1, __kv_i32x4, __kv_i32x16)
KV_INTEGER(16x16x64_i8, 16, 1, __kv_i32x4, __kv_i32x4)
KV_DEFINE(f64_16x16x4f64, double, __kv_f64x4, multiply_f64)
