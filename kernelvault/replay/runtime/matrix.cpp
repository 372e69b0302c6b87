// Dense matrix instructions. With M = N rows and columns and B blocks, lane l holds A[l % M][K(l) + j] and
// B[K(l) + j][l % M], where K(l) = kPerLane (l / M / B); its block is l / M % B.
#include "matrix.h"

#include "amdgcn.h"

using kv::kLanes;

namespace {

using kv::Bf16, kv::F16, kv::F32, kv::F64, kv::F8, kv::I8, kv::Xf32;

template <class Operand, class D>
struct Operands {
    Operand a, b;
    D d;
    int cbsz, abid, blgp;
    bool whole;
};

// The lane whose B a lane gets: its own, or one of another group of lanes.
unsigned pattern(unsigned lane, int blgp) {
    switch (blgp) {
        case 0: return lane;
        case 1: return lane % 32;
        case 2: return lane % 32 + 32;
        case 3: return (lane + 16) % kLanes;
        default: return lane % 16 + 16 * (unsigned(blgp) - 4);
    }
}

template <unsigned kSize, unsigned kBlocks, class DecodeA, class DecodeB, class Operand, class D, class Sum>
void multiply(uint64_t mask, void* const* arguments) {
    using Lane = Operands<Operand, D>;
    constexpr unsigned kPerLane = sizeof(Operand) / sizeof(typename DecodeA::Number);
    using Product = kv::Product<kSize, kBlocks, kPerLane * kLanes / kSize / kBlocks, Sum>;
    static Product product;
    if (!kv::is_whole<Lane>(mask, arguments)) return;
    auto lane_at = [=](unsigned lane) -> Lane& { return *static_cast<Lane*>(arguments[lane]); };
    const Lane& any = lane_at(0);
    constexpr bool kNegates = std::is_same_v<Sum, double>;
    for (unsigned lane = 0; lane < kLanes; lane++) {
        const Lane &mine = lane_at(lane), &other = lane_at(kNegates ? lane : pattern(lane, any.blgp));
        unsigned group = lane / kSize, in_block = group % kBlocks, first = group / kBlocks * kPerLane;
        for (unsigned j = 0; j < kPerLane; j++) {
            product.a[in_block][first + j][lane % kSize] = kv::number<DecodeA>(mine.a, j);
            product.b[in_block][first + j][lane % kSize] = kv::number<DecodeB>(other.b, j);
        }
        product.take(lane, mine.d);
        if (!kNegates) continue;
        for (unsigned j = 0; j < kPerLane; j++) {
            if (any.blgp & 1) product.a[in_block][first + j][lane % kSize] *= -1;
            if (any.blgp & 2) product.b[in_block][first + j][lane % kSize] *= -1;
        }
        for (unsigned v = 0; any.blgp & 4 && v < Product::kValues; v++) product.at(lane, v) *= -1;
    }
    product.multiply(unsigned(any.cbsz), unsigned(any.abid));
    for (unsigned lane = 0; lane < kLanes; lane++) product.give(lane, lane_at(lane).d);
    kv::matrix_flops[DecodeA::kType] += 2ull * kSize * kSize * kPerLane * kLanes / kSize;
}

// Which modifiers an instruction has: broadcasts of A among several blocks; patterns of B, since CDNA 3 with several
// blocks only; since then the negation of double-precision operands.
enum Modifiers { kNone, kBroadcast, kNegate };
bool allowed(Modifiers has, unsigned blocks, int cbsz, int abid, int blgp) {
    bool cdna3 = kernel_target >= 0x940;
    if (cbsz && (has != kBroadcast || blocks >> cbsz == 0)) return false;
    if (abid >> cbsz) return false;
    return !blgp || (has == kNegate ? cdna3 : has == kBroadcast && (blocks > 1 || !cdna3));
}

}  // namespace

#define KV_DEFINE(name, has, blocks, operand, sum, operation)                                                  \
    extern "C" sum __builtin_amdgcn_mfma_##name(operand a, operand b, sum d, int cbsz, int abid, int blgp) {    \
        if (!allowed(has, blocks, cbsz, abid, blgp)) kv::stop(kv::Status::kUnsupported);                        \
        return kv::run_matrix(operation, Operands<operand, sum>{a, b, d, cbsz, abid, blgp, true});              \
    }
#define KV_FLOAT(name, size, blocks, decode, operand, sum) \
    KV_DEFINE(f32_##name, kBroadcast, blocks, operand, sum, (multiply<size, blocks, decode, decode, operand, sum, float>))
#define KV_PLAIN(name, size, first, second, operand, sum) \
    KV_DEFINE(f32_##name, kNone, 1, operand, sum, (multiply<size, 1, first, second, operand, sum, float>))
#define KV_INTEGER(name, size, blocks, operand, sum) \
    KV_DEFINE(i32_##name, kBroadcast, blocks, operand, sum, (multiply<size, blocks, I8, I8, operand, sum, int>))
#define KV_DOUBLE(name, size, blocks, sum) \
    KV_DEFINE(f64_##name, kNegate, blocks, double, sum, (multiply<size, blocks, F64, F64, double, sum, double>))

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
KV_PLAIN(16x16x8_xf32, 16, Xf32, Xf32, __kv_f32x2, __kv_f32x4)
KV_PLAIN(32x32x4_xf32, 32, Xf32, Xf32, __kv_f32x2, __kv_f32x16)
KV_PLAIN(32x32x16_f16, 32, F16, F16, __kv_f16x8, __kv_f32x16)
KV_PLAIN(16x16x32_f16, 16, F16, F16, __kv_f16x8, __kv_f32x4)
KV_PLAIN(32x32x16_bf16, 32, Bf16, Bf16, __kv_bf16x8, __kv_f32x16)
KV_PLAIN(16x16x32_bf16, 16, Bf16, Bf16, __kv_bf16x8, __kv_f32x4)
KV_PLAIN(32x32x16_fp8_fp8, 32, F8<3>, F8<3>, long, __kv_f32x16)
KV_PLAIN(16x16x32_fp8_fp8, 16, F8<3>, F8<3>, long, __kv_f32x4)
KV_PLAIN(32x32x16_fp8_bf8, 32, F8<3>, F8<2>, long, __kv_f32x16)
KV_PLAIN(16x16x32_fp8_bf8, 16, F8<3>, F8<2>, long, __kv_f32x4)
KV_PLAIN(32x32x16_bf8_fp8, 32, F8<2>, F8<3>, long, __kv_f32x16)
KV_PLAIN(16x16x32_bf8_fp8, 16, F8<2>, F8<3>, long, __kv_f32x4)
KV_PLAIN(32x32x16_bf8_bf8, 32, F8<2>, F8<2>, long, __kv_f32x16)
KV_PLAIN(16x16x32_bf8_bf8, 16, F8<2>, F8<2>, long, __kv_f32x4)
KV_INTEGER(32x32x4i8, 32, 2, int, __kv_i32x32)
KV_INTEGER(16x16x4i8, 16, 4, int, __kv_i32x16)
KV_INTEGER(4x4x4i8, 4, 16, int, __kv_i32x4)
KV_INTEGER(32x32x8i8, 32, 1, int, __kv_i32x16)
KV_INTEGER(16x16x16i8, 16, 1, int, __kv_i32x4)
KV_INTEGER(32x32x16_i8, 32, 1, long, __kv_i32x16)
KV_INTEGER(16x16x32_i8, 16, 1, long, __kv_i32x4)
KV_INTEGER(32x32x32_i8, 32, 1, __kv_i32x4, __kv_i32x16)
KV_INTEGER(16x16x64_i8, 16, 1, __kv_i32x4, __kv_i32x4)
KV_DOUBLE(16x16x4f64, 16, 1, __kv_f64x4)
KV_DOUBLE(4x4x4f64, 4, 4, double)
