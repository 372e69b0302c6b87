// Findings and counters as records in memory that the parent reads; see cpu_report.py for the other side.
#pragma once

#include <cstdint>

#include "memory.h"
#include "model.h"

namespace kv {

// The numbers are those of kernelvault.v1.Finding.Kind.
enum class Kind : uint32_t {
    kOutOfBounds = 1,
    kRace = 2,
    kUninitialisedRead = 3,
    kHostPointer = 4,
    kDivergentBarrier = 5,
    kMisaligned = 6,
};

struct FindingRecord {
    uint32_t kind;
    uint32_t operation;  // of the plan
    Extent block, thread;
    uint32_t space;
    int32_t object;
    int64_t offset;
    uint64_t object_size;
    uint64_t code;  // offset of the access in the image; 0: unknown
    uint32_t size;
    uint32_t write;
    // The other side of a race or of a divergent barrier; a thread number within its block.
    uint32_t other_thread;
    uint32_t other_same_block;
    uint32_t other_write;
    uint32_t other_operation;  // and 1; 0: the same
    char name[64];  // of the LDS or module variable
};

// Of the operands, in the order of cpu_report.py; bfloat16 is with f16, what has fewer than eight bits with f8.
enum MatrixType { kMatrixF64, kMatrixF32, kMatrixXf32, kMatrixF16, kMatrixF8, kMatrixI8, kMatrixTypes };

// Counted in the blocks that ran. What their share says nothing of stands last, from `most_lanes_on_a_word` on.
struct CounterRecord {
    uint64_t operation, blocks, sampled_blocks;
    uint64_t global_read_bytes, global_write_bytes, global_segments, global_lines, global_asked_bytes;
    uint64_t lds_read_bytes, lds_write_bytes, lds_passes, lds_extra_passes;
    uint64_t atomics, atomic_repeats, lds_atomics, lds_atomic_repeats, barriers;  // `atomics`: on global memory
    uint64_t matrix_flops[kMatrixTypes];
    uint64_t half_flops, single_flops, double_flops, packed_flops, special, integers;  // of vector instructions
    uint64_t active, issued;  // instructions of lanes that are switched on, and of all lanes
    uint64_t most_lanes_on_a_word, most_lanes_on_a_word_of_lds, hottest_atomic, hottest_lds_atomic, unique_lines;
};

constexpr uint32_t kMostFindings = 64, kMostCounters = 4096;

struct Report {
    uint32_t finding_count, counter_count;
    int32_t status;      // of the last operation
    uint32_t operation;  // that was last begun
    uint64_t trap_code;  // where a kernel ended itself, as an offset in the image; and who did
    Extent trap_block, trap_thread;
    FindingRecord findings[kMostFindings];
    CounterRecord counters[kMostCounters];
};

extern Report* report;
extern bool findings_wanted;

struct Access {
    const void* address;
    uint32_t size;
    bool write;
    uintptr_t code;
};

// Adds a finding unless one of its kind was made at the same place in the code.
void add_finding(Kind kind, const Access& access, unsigned other_thread = 0, bool other_same_block = false,
                 bool other_write = false, uint32_t other_operation = 0);
void report_divergence(const Thread& waiting, const Thread& astray);
CounterRecord* add_counters();
// The current thread calls a trap.
void note_trap(uintptr_t code);

}  // namespace kv
