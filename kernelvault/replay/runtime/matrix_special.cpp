// Matrix instructions whose A is sparse (CDNA 3), and those whose operands are scaled by blocks (CDNA 4).
#include <cmath>

#include "amdgcn.h"
#include "matrix.h"

using kv::kLanes;

namespace {

using kv::Bf16, kv::F16, kv::F8, kv::I8;

template <class A, class B, class D>
struct Sparse {
    A a;
    B b;
    D d;
    int index, set;
    bool whole;
};

// Of four numbers along k, A holds two; two bits each say which. A lane's index holds the bits of four numbers of 16 bits,
// or of eight of 8, and has room for several sets.
template <unsigned kSize, class DecodeA, class DecodeB, class A, class B, class D, class Sum>
void multiply_sparse(uint64_t mask, void* const* arguments) {
    using Lane = Sparse<A, B, D>;
    constexpr unsigned kPerLane = sizeof(B) / sizeof(typename DecodeB::Number), kHeld = kPerLane / 2;
    static kv::Product<kSize, 1, kPerLane * kLanes / kSize, Sum> product;
    if (!kv::is_whole<Lane>(mask, arguments)) return;
    memset(product.a, 0, sizeof product.a);
    for (unsigned lane = 0; lane < kLanes; lane++) {
        const Lane& mine = *static_cast<Lane*>(arguments[lane]);
        unsigned first = lane / kSize * kPerLane, index = unsigned(mine.index) >> unsigned(mine.set) * kHeld * 2;
        for (unsigned j = 0; j < kPerLane; j++) product.b[0][first + j][lane % kSize] = kv::number<DecodeB>(mine.b, j);
        for (unsigned j = 0; j < kHeld; j++)
            product.a[0][first + j / 2 * 4 + (index >> 2 * j & 3)][lane % kSize] += kv::number<DecodeA>(mine.a, j);
        product.take(lane, mine.d);
    }
    product.multiply();
    for (unsigned lane = 0; lane < kLanes; lane++) product.give(lane, static_cast<Lane*>(arguments[lane])->d);
    kv::matrix_flops[DecodeA::kType] += 2ull * kSize * kSize * kHeld * kLanes / kSize;
}

// Four bits, E2M1: 0, 0.5, 1, 1.5, 2, 3, 4, 6.
float decode_fp4(unsigned bits) {
    constexpr float kSizes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    return bits & 8 ? -kSizes[bits & 7] : kSizes[bits & 7];
}

enum Format { kFp8 = 0, kBf8 = 1, kFp4 = 4 };

struct Scaled {
    __kv_i32x8 registers;
    int format, scale;

    // The number at `index` of a lane's 32.
    float number(unsigned index) const {
        if (format == kFp8) return kv::number<F8<3>>(registers, index);
        if (format == kBf8) return kv::number<F8<2>>(registers, index);
        return decode_fp4(unsigned(registers[index / 8]) >> index % 8 * 4 & 15);
    }
    // Along k: 32 in a row of four bits, two times 16 of eight bits.
    static unsigned depth(int format, unsigned group, unsigned groups, unsigned index) {
        return format == kFp4 ? group * 32 + index : index / 16 * groups * 16 + group * 16 + index % 16;
    }
    float factor() const { return scale == 0xff ? NAN : std::ldexp(1.f, scale - 127); }
};

template <class D>
struct ScaledOperands {
    Scaled a, b;
    D d;
    bool whole;
};

// Lane l has the scale of row (column) l % M for 32 numbers along k, which begin at 32 (l / M).
template <unsigned kSize, class D>
void multiply_scaled(uint64_t mask, void* const* arguments) {
    using Lane = ScaledOperands<D>;
    constexpr unsigned kGroups = kLanes / kSize;
    static kv::Product<kSize, 1, 32 * kGroups, float> product;
    if (!kv::is_whole<Lane>(mask, arguments)) return;
    for (unsigned lane = 0; lane < kLanes; lane++) {
        const Lane& mine = *static_cast<Lane*>(arguments[lane]);
        for (unsigned j = 0; j < 32; j++) {
            product.a[0][Scaled::depth(mine.a.format, lane / kSize, kGroups, j)][lane % kSize] = mine.a.number(j);
            product.b[0][Scaled::depth(mine.b.format, lane / kSize, kGroups, j)][lane % kSize] = mine.b.number(j);
        }
        product.take(lane, mine.d);
    }
    for (unsigned lane = 0; lane < kLanes; lane++) {
        const Lane& mine = *static_cast<Lane*>(arguments[lane]);
        for (unsigned k = lane / kSize * 32; k < lane / kSize * 32 + 32; k++) {
            product.a[0][k][lane % kSize] *= mine.a.factor();
            product.b[0][k][lane % kSize] *= mine.b.factor();
        }
    }
    product.multiply();
    for (unsigned lane = 0; lane < kLanes; lane++) product.give(lane, static_cast<Lane*>(arguments[lane])->d);
    kv::matrix_flops[kv::kMatrixF8] += 2ull * kSize * kSize * 32 * kGroups;
}

// Formats of six bits are not laid out in any source that we know.
bool is_known(int format) { return format == kFp8 || format == kBf8 || format == kFp4; }

}  // namespace

#define KV_SPARSE(name, size, sets, first, second, operand_a, operand_b, sum, number)                                     \
    extern "C" sum __builtin_amdgcn_smfmac_##name(operand_a a, operand_b b, sum d, int index, int cbsz, int abid) {       \
        if (!cbsz && abid >= sets) kv::stop(kv::Status::kUnsupported);                                                    \
        return kv::run_matrix(multiply_sparse<size, first, second, operand_a, operand_b, sum, number>,                    \
                              Sparse<operand_a, operand_b, sum>{a, b, d, index, cbsz ? 0 : abid, true});                  \
    }
#define KV_SPARSE_F8(kinds, first, second)                                                              \
    KV_SPARSE(f32_16x16x64_##kinds, 16, 2, first, second, __kv_i32x2, __kv_i32x4, __kv_f32x4, float)    \
    KV_SPARSE(f32_32x32x32_##kinds, 32, 2, first, second, __kv_i32x2, __kv_i32x4, __kv_f32x16, float)

KV_SPARSE(f32_16x16x32_f16, 16, 4, F16, F16, __kv_f16x4, __kv_f16x8, __kv_f32x4, float)
KV_SPARSE(f32_32x32x16_f16, 32, 4, F16, F16, __kv_f16x4, __kv_f16x8, __kv_f32x16, float)
KV_SPARSE(f32_16x16x32_bf16, 16, 4, Bf16, Bf16, __kv_i16x4, __kv_i16x8, __kv_f32x4, float)
KV_SPARSE(f32_32x32x16_bf16, 32, 4, Bf16, Bf16, __kv_i16x4, __kv_i16x8, __kv_f32x16, float)
KV_SPARSE(i32_16x16x64_i8, 16, 2, I8, I8, __kv_i32x2, __kv_i32x4, __kv_i32x4, int)
KV_SPARSE(i32_32x32x32_i8, 32, 2, I8, I8, __kv_i32x2, __kv_i32x4, __kv_i32x16, int)
KV_SPARSE_F8(fp8_fp8, F8<3>, F8<3>)
KV_SPARSE_F8(fp8_bf8, F8<3>, F8<2>)
KV_SPARSE_F8(bf8_fp8, F8<2>, F8<3>)
KV_SPARSE_F8(bf8_bf8, F8<2>, F8<2>)

#define KV_SCALED(name, size, sum)                                                                                      \
    extern "C" sum __builtin_amdgcn_mfma_scale_f32_##name##_f8f6f4(__kv_i32x8 a, __kv_i32x8 b, sum d, int format_a,     \
                                                                   int format_b, int byte_a, int scale_a, int byte_b,   \
                                                                   int scale_b) {                                       \
        if (!is_known(format_a) || !is_known(format_b)) kv::stop(kv::Status::kUnsupported);                             \
        Scaled first{a, format_a, scale_a >> byte_a % 4 * 8 & 0xff}, second{b, format_b, scale_b >> byte_b % 4 * 8 & 0xff}; \
        return kv::run_matrix(multiply_scaled<size, sum>, ScaledOperands<sum>{first, second, d, true});                 \
    }
KV_SCALED(16x16x128, 16, __kv_f32x4)
KV_SCALED(32x32x64, 32, __kv_f32x16)
