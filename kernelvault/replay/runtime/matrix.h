// Matrix instructions of a whole wave, D = A B + C: where what of whose lane is. Layouts: AMD's Matrix Instruction
// Calculator and the Instruction Set Architecture manuals of CDNA 2 to 4. Products are summed in order of k, in the
// precision of D.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "counters.h"
#include "model.h"
#include "narrow.h"
#include "scheduler.h"

namespace kv {

struct F32 {
    static constexpr MatrixType kType = kMatrixF32;
    using Number = float;
    static float decode(float value) { return value; }
};
// Ten bits of mantissa, rounded to nearest.
struct Xf32 {
    static constexpr MatrixType kType = kMatrixXf32;
    using Number = float;
    static float decode(float value) {
        uint32_t bits = to_bits(value);
        return value - value != 0 ? value : from_bits((bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu);
    }
};
struct F64 {
    static constexpr MatrixType kType = kMatrixF64;
    using Number = double;
    static double decode(double value) { return value; }
};
struct F16 {
    static constexpr MatrixType kType = kMatrixF16;
    using Number = _Float16;
    static float decode(_Float16 value) { return float(value); }
};
struct Bf16 {
    static constexpr MatrixType kType = kMatrixF16;
    using Number = uint16_t;
    static float decode(uint16_t bits) { return from_bf16(bits); }
};
struct I8 {
    static constexpr MatrixType kType = kMatrixI8;
    using Number = int8_t;
    static int decode(int8_t value) { return value; }
};
template <unsigned kMantissa>
struct F8 {
    static constexpr MatrixType kType = kMatrixF8;
    using Number = uint8_t;
    static float decode(uint8_t bits) { return TargetFloat8<kMantissa>::decode(bits); }
};

// Number `index` of an operand in registers.
template <class Decode, class Operand>
auto number(const Operand& operand, unsigned index) {
    typename Decode::Number value;
    memcpy(&value, reinterpret_cast<const char*>(&operand) + index * sizeof value, sizeof value);
    return Decode::decode(value);
}

template <unsigned kSize, unsigned kBlocks, unsigned kDepth, class Sum>
struct Product {
    static constexpr unsigned kGroups = kLanes / kSize / kBlocks, kValues = kSize * kSize * kBlocks / kLanes;

    Sum a[kBlocks][kDepth][kSize], b[kBlocks][kDepth][kSize], d[kBlocks][kSize][kSize];

    // What value `v` of a lane is of D (and C).
    Sum& at(unsigned lane, unsigned v) {
        unsigned group = lane / kSize, column = lane % kSize;
        if (std::is_same_v<Sum, double>) return d[group % kBlocks][kGroups * v + group / kBlocks][column];
        if (kSize == 4) return d[group][v][column];
        constexpr unsigned kPerBlock = kValues / kBlocks;
        return d[v / kPerBlock][8 * (v % kPerBlock / 4) + 4 * group + v % 4][column];
    }
    template <class D>
    void take(unsigned lane, const D& values) {
        for (unsigned v = 0; v < kValues; v++) memcpy(&at(lane, v), reinterpret_cast<const Sum*>(&values) + v, sizeof(Sum));
    }
    template <class D>
    void give(unsigned lane, D& values) {
        for (unsigned v = 0; v < kValues; v++) memcpy(reinterpret_cast<Sum*>(&values) + v, &at(lane, v), sizeof(Sum));
    }
    // Groups of 2^cbsz blocks share the A of their block `abid`.
    void multiply(unsigned cbsz = 0, unsigned abid = 0) {
        for (unsigned n = 0; n < kBlocks; n++) {
            const auto& shared = a[((n >> cbsz << cbsz) + abid) % kBlocks];
            for (unsigned k = 0; k < kDepth; k++)
                for (unsigned i = 0; i < kSize; i++)
                    for (unsigned j = 0; j < kSize; j++) d[n][i][j] += shared[k][i] * b[n][k][j];
        }
    }
};

// Runs `operation` on the operands of all lanes, which the hardware reads and writes whether lanes are switched on or not.
template <class Lane>
auto run_matrix(WaveOperation operation, Lane mine) {
    mine.whole = true;
    wait_for_wave(operation, &mine);
    if (!mine.whole) stop(Status::kInactiveLane);
    return mine.d;
}

// Whether all lanes are there; tells them if not.
template <class Lane>
bool is_whole(uint64_t mask, void* const* arguments) {
    if (mask == ~uint64_t{0}) return true;
    for (uint64_t left = mask; left; left &= left - 1) static_cast<Lane*>(arguments[__builtin_ctzll(left)])->whole = false;
    return false;
}

}  // namespace kv
