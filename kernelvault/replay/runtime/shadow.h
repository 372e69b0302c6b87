// The checker: is an access in bounds, to memory that was written, and ordered with those of other threads?
#pragma once

#include <cstddef>
#include <cstdint>

#include "counters.h"
#include "memory.h"
#include "model.h"
#include "order.h"
#include "pieces.h"
#include "report.h"

namespace kv {

// A copy may take what nobody wrote along, and leaves it as it was: see copy_initialised.
enum class Mode { kPlain, kCopy, kVolatile, kAtomic };

// A write over another thread's write of the same time is a race only if it changes what is there. That is known once
// the store is done: at the thread's next access or wait.
struct Pending {
    Access access;
    uint8_t before[16];
    uint16_t other;
    bool other_same_block;
    uint32_t other_operation;
};
extern Pending pending;
extern bool has_pending;
void settle_now();
inline void settle() {
    if (__builtin_expect(has_pending, 0)) settle_now();
}

void block_begins();
// The lanes of a wave met: their accesses up to here were made together.
void wave_met(unsigned wave);

// Release and acquire between blocks: a fence and then an atomic or volatile write publishes all that the block wrote; a
// block that has read one sees it.
void note_fence();
void note_release(bool ordered);
void note_acquire();
// The same between the waves of a block, where the fence may be narrower and the flag in LDS. `met`: the lanes of the
// wave have just met.
void note_wave_fence(bool met);
void note_wave_release(bool ordered);
void note_wave_acquire();

// A copy or a fill, where operations of other streams may be under way.
void touch_range(const void* address, size_t size, bool write);

// Slow paths. They report.
void check_write_before(const Cell& cell, uint8_t bytes, const Access& access, bool is_write);
void check_read_before(const Cell& cell, uint8_t bytes, const Access& access);
void note_read(Cell& cell, uint8_t bytes);
void out_of_bounds(const Region& region, const Access& access);
void misaligned(const Access& access);
// Everything that is neither global memory nor LDS. False: the access is of no interest.
bool elsewhere(const Access& access, Mode mode);

// What happened earlier does not count: LDS begins anew with each block, and accesses of other launches are ordered
// unless these are on other streams. Of what is ordered by a barrier, LDS needs to know no more; other blocks may yet
// touch the rest, so that it is `kept` for them.
struct Since {
    uint32_t reset, race, kept;
    bool is_lds;
};
inline Since since_launch() { return {0, clock.since, clock.since, false}; }
inline Since since_block() { return {clock.block, clock.block, clock.barrier, true}; }

inline bool is_mine(uint16_t thread, uint32_t time) { return thread == current->index && time >= clock.block; }

template <bool kWrite, Mode mode>
[[gnu::noinline]] void check_pieces(Cell& cell, uint8_t bytes, bool initialised, const Since& since, const Access& access);

// Threads that touch other bytes of a word than those before them cut its cell into pieces, where something would be
// forgotten else. What is `initialised` from the beginning is hardly written, and then not cut by its readers.
template <bool kWrite, Mode mode, bool kPiece = false>
[[gnu::always_inline]] inline void check_cell(Cell& cell, uint8_t bytes, bool initialised, const Since& since,
                                              const Access& access) {
    if (!kPiece && __builtin_expect(cell.cut, 0)) return check_pieces<kWrite, mode>(cell, bytes, initialised, since, access);
    constexpr bool kOrdinary = mode == Mode::kPlain || mode == Mode::kCopy;
    if (mode != Mode::kCopy && (!kWrite || mode == Mode::kAtomic)) {
        if (!initialised && __builtin_expect(cell.write_time < since.reset || !(cell.initialised & bytes), 0) && findings_wanted)
            add_finding(Kind::kUninitialisedRead, access);
    }
    if (mode != Mode::kVolatile && __builtin_expect(cell.write_time >= since.race, 0) && cell.written & bytes &&
        !is_mine(cell.writer, cell.write_time) && !(mode == Mode::kAtomic && cell.written & kAtomic))
        check_write_before(cell, bytes, access, kWrite);
    if (kWrite) {
        if (kOrdinary && cell.read_time >= since.race && (cell.read | cell.read >> kShared) & bytes &&
            !is_mine(cell.reader, cell.read_time))
            check_read_before(cell, bytes, access);
        if (cell.write_time < since.reset) cell.initialised = 0;
        if (mode != Mode::kCopy) cell.initialised |= bytes;
        // An atomic does not hide the plain write of its thread before it from the atomics of others.
        if (mode == Mode::kAtomic && cell.writer == current->index && cell.write_time >= clock.barrier &&
            !(cell.written & kAtomic) && cell.written & bytes)
            return;
        constexpr uint8_t kHow = kOrdinary ? 0 : kAtomic;
        bool again = cell.write_time == clock.now && cell.writer == current->index && (cell.written & kAtomic) == kHow;
        if (!kPiece && __builtin_expect(cell.written & kWhole & ~bytes, 0) && !again && cell.write_time >= since.kept &&
            cut(cell, since.is_lds))
            return check_pieces<kWrite, mode>(cell, bytes, initialised, since, access);
        cell.written = uint8_t((again ? cell.written : 0) | bytes | kHow);
        cell.write_time = clock.now;
        cell.writer = current->index;
    } else if (kOrdinary) {
        uint8_t known = (cell.read | cell.read >> kShared) & kWhole;
        if (!kPiece && !initialised && __builtin_expect(known && known != bytes, 0) && cell.read_time >= since.kept &&
            !(cell.reader == current->index && cell.read_time == clock.now)) {
            if (cell.write_time < since.reset) cell.initialised = 0;
            if (cut(cell, since.is_lds)) return check_pieces<kWrite, mode>(cell, bytes, initialised, since, access);
        }
        if (cell.read_time < clock.barrier) {
            cell.reader = current->index;
            cell.read = bytes;
            cell.read_time = clock.now;
        } else if (cell.reader != current->index || bytes & ~cell.read) {
            note_read(cell, bytes);
        } else {
            cell.read_time = clock.now;
        }
    }
}

template <bool kWrite, Mode mode>
void check_pieces(Cell& cell, uint8_t bytes, bool initialised, const Since& since, const Access& access) {
    if (cell.write_time < since.kept) {  // what the pieces tell is over
        cell.cut = cell.written = cell.read = 0;
        cell.write_time = cell.write_time < since.reset ? 0 : since.reset;
        cell.read_time = 0;
        return check_cell<kWrite, mode>(cell, bytes, initialised, since, access);
    }
    Pieces& pieces = pieces_of(cell, since.is_lds);
    if (cell.cut == kHalves && ((bytes ^ bytes >> 1) & 5)) cut_halves(cell, pieces);
    if (mode != Mode::kCopy && (!kWrite || mode == Mode::kAtomic) && !initialised && bytes & ~cell.initialised && findings_wanted)
        add_finding(Kind::kUninitialisedRead, access);
    unsigned step = cell.cut == kHalves ? 2 : 1;
    for (unsigned i = 0; i < 4; i += step)
        if (uint8_t mine = bytes & (step == 2 ? 3 << i : 1 << i)) check_cell<kWrite, mode, true>(pieces.of[i], mine, true, since, access);
    if (kWrite && mode != Mode::kCopy) cell.initialised |= bytes;
    cell.write_time = clock.now;
}

template <bool kWrite, Mode mode>
[[gnu::always_inline]] inline void check_cells(Region& region, size_t offset, size_t size, bool initialised, const Since& since,
                                               const Access& access) {
    Cell* cell = region.cells + offset / 4;
    unsigned head = offset % 4;
    if (head + size <= 4)
        return check_cell<kWrite, mode>(*cell, uint8_t(((1u << size) - 1) << head), initialised, since, access);
    for (size_t left = size; left;) {
        size_t here = 4 - head < left ? 4 - head : left;
        check_cell<kWrite, mode>(*cell++, uint8_t(((1u << here) - 1) << head), initialised, since, access);
        left -= here;
        head = 0;
    }
}

// The objects and cells of an access of `size` bytes at `offset` of the region.
template <bool kWrite, Mode mode>
[[gnu::always_inline]] inline void check_region(Region& region, size_t offset, uint32_t size, const Since& since,
                                                const Access& access) {
    const Object& object = region.objects[region.object_at[offset >> region.shift]];
    size_t within = offset - object.start;
    if (__builtin_expect(within > object.size || size > object.size - within, 0)) return out_of_bounds(region, access);
    // Nobody asks for findings where blocks are sampled: three times the memory would be touched for nothing.
    if (__builtin_expect(counting, 0)) return;
    check_cells<kWrite, mode>(region, offset, size, object.initialised, since, access);
}

}  // namespace kv
