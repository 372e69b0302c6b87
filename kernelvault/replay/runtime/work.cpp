// A wave runs a block of code as often as that of its lanes which does so most often between two places where they meet.
// Its instructions take the time of 64 lanes, however few are switched on.
#include "work.h"

#include <cstring>
#include <sys/mman.h>

#include "model.h"

// Generated into the image.
struct BlockWork {
    uint32_t instructions, half, single, full, special, packed, integers;
};
extern "C" uint64_t kernel_blocks[];
extern "C" const BlockWork kernel_work[];
extern "C" const uint32_t kernel_block_count;

namespace kv {
namespace {

struct BlockRuns {
    uint64_t before;  // when the running lane went on
    uint64_t most;    // of one lane, since the wave's lanes last met
    uint64_t lanes, waves;
};

BlockRuns* runs;
uint32_t* touched;  // blocks with a `most`
uint32_t touched_count;
unsigned turn_wave;

}  // namespace

void begin_work() {
    size_t bytes = kernel_block_count * (sizeof(BlockRuns) + sizeof(uint32_t)) + 4096;
    if (!runs) {
        void* made = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        runs = static_cast<BlockRuns*>(made);
        touched = reinterpret_cast<uint32_t*>(runs + kernel_block_count);
    }
    memset(runs, 0, bytes);
    for (uint32_t i = 0; i < kernel_block_count; i++) runs[i].before = kernel_blocks[i];
    touched_count = 0;
}

void lane_stops() {
    unsigned wave = wave_of(current->index);
    if (wave != turn_wave) end_turn();
    turn_wave = wave;
    for (uint32_t i = 0; i < kernel_block_count; i++) {
        uint64_t more = kernel_blocks[i] - runs[i].before;
        if (!more) continue;
        BlockRuns& run = runs[i];
        run.before = kernel_blocks[i];
        run.lanes += more;
        if (!run.most) touched[touched_count++] = i;
        if (more > run.most) run.most = more;
    }
}

void end_turn() {
    for (uint32_t i = 0; i < touched_count; i++) {
        BlockRuns& run = runs[touched[i]];
        run.waves += run.most;
        run.most = 0;
    }
    touched_count = 0;
}

void end_work(CounterRecord& record) {
    end_turn();
    for (uint32_t i = 0; i < kernel_block_count; i++) {
        const BlockWork& work = kernel_work[i];
        record.half_flops += runs[i].lanes * work.half;
        record.single_flops += runs[i].lanes * work.single;
        record.double_flops += runs[i].lanes * work.full;
        record.special += runs[i].lanes * work.special;
        record.packed_flops += runs[i].lanes * work.packed;
        record.integers += runs[i].lanes * work.integers;
        record.active += runs[i].lanes * work.instructions;
        record.issued += runs[i].waves * work.instructions * kLanes;
    }
}

}  // namespace kv
