// What the lanes of a wave did at one place of the code, and what that costs the memories.
#pragma once

#include <cstdint>

#include "model.h"

namespace kv {

// One instruction of a wave: the same code, the nth time since the lanes last met.
struct Turn {
    uint64_t mask;
    uint32_t next;  // of the same site; 0: none
    uint32_t words[kLanes];  // offset / 4
    uint8_t bytes[kLanes];
};

constexpr uint64_t kSegment = 64, kLine = 128;

struct Traffic {
    uint64_t asked, segments, lines;  // of global memory
    uint64_t passes, extra;           // of LDS
};
void count_lines(const Turn& turn, Traffic& traffic);
void count_passes(const Turn& turn, bool write, Traffic& traffic);

// Lanes of one instruction that aim at one word are served one after the other.
struct Contention {
    uint64_t operations;
    uint64_t repeats;  // lanes that came after another one of their instruction
    uint64_t most;     // lanes of one instruction on one word
};
void count_contention(const Turn& turn, Contention& contention);

}  // namespace kv
