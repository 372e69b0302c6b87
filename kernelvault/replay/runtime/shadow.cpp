#include "shadow.h"

#include <cstdlib>
#include <cstring>

#include "fiber.h"
#include "scheduler.h"

namespace kv {

Pending pending;
bool has_pending;

namespace {

// A block that published what it had written until then.
struct Release {
    uint32_t begin, until;
};
constexpr unsigned kMostReleases = 1 << 16;
Release releases[kMostReleases];
unsigned release_count;
uint32_t releases_of_launch;
bool fenced, acquired;

// Of each wave: when its last fence was, the fence behind which it has published what it did, and those of the others that
// it has seen. Times of earlier blocks do no harm.
uint32_t fences[kMaxWaves], published[kMaxWaves], seen[kMaxWaves][kMaxWaves];

// The time is in an earlier block of this launch: was it published, and has this block looked?
bool is_published(uint32_t time) {
    if (!acquired || releases_of_launch != clock.launch) return false;
    unsigned low = 0, high = release_count;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (releases[middle].until < time) low = middle + 1;
        else high = middle;
    }
    return low < release_count && releases[low].begin <= time;
}

// An access at `time` by `thread` of its block is not ordered before the current one.
bool is_unordered(uint16_t thread, uint32_t time) {
    if (time < clock.launch) return is_beside(time);
    if (time < clock.block) return !is_published(time);
    if (time < clock.barrier) return false;
    unsigned wave = wave_of(thread), mine = wave_of(current->index);
    return time >= (wave == mine ? clock.wave[wave] : seen[mine][wave]);
}

// The same for an access by several waves of the block.
bool is_unordered_with_any(uint32_t time) {
    for (unsigned wave = 0; wave * kLanes < block.count; wave++)
        if (is_unordered(uint16_t(wave * kLanes), time)) return true;
    return false;
}

}  // namespace

void settle_now() {
    has_pending = false;
    if (memcmp(pending.before, pending.access.address, pending.access.size))
        add_finding(Kind::kRace, pending.access, pending.other, pending.other_same_block, true, pending.other_operation);
}

void block_begins() {
    fenced = acquired = false;
    forget_pieces(true);
    reset_lds();
}

void note_fence() { fenced = true; }

void note_release(bool ordered) {
    if (!ordered && !fenced) return;
    if (releases_of_launch != clock.launch) {
        releases_of_launch = clock.launch;
        release_count = 0;
    }
    bool known = release_count && releases[release_count - 1].begin == clock.block;
    if (!known && release_count < kMostReleases) releases[release_count++] = {clock.block, 0};
    if (known || release_count < kMostReleases) releases[release_count - 1].until = clock.now++;
}

void note_acquire() { acquired = true; }

void note_wave_fence(bool met) { fences[wave_of(current->index)] = clock.now + !met; }

void note_wave_release(bool ordered) {
    if (ordered) note_wave_fence(false);
    unsigned mine = wave_of(current->index);
    published[mine] = fences[mine];
}

void note_wave_acquire() { memcpy(seen[wave_of(current->index)], published, sizeof published); }

void check_write_before(const Cell& cell, uint8_t, const Access& access, bool is_write) {
    if (!is_unordered(cell.writer, cell.write_time)) return;
    // The usual loop around a compare-and-swap starts with a plain read.
    if (!is_write && cell.written & kAtomic) return;
    bool same_block = cell.write_time >= clock.block;
    uint32_t operation = other_operation(cell.write_time);
    if (!is_write || access.size > sizeof pending.before || cell.written & kAtomic)
        return add_finding(Kind::kRace, access, cell.writer, same_block, true, operation);
    settle();
    pending.access = access;
    memcpy(pending.before, access.address, access.size);
    pending.other = cell.writer;
    pending.other_same_block = same_block;
    pending.other_operation = operation;
    has_pending = true;
}

void check_read_before(const Cell& cell, uint8_t bytes, const Access& access) {
    uint16_t thread = cell.reader & kThreadMask;
    bool shared = cell.read >> kShared & bytes, race;
    if (cell.read_time < clock.launch) race = is_beside(cell.read_time);
    else if (cell.read_time < clock.block) race = !is_published(cell.read_time);
    else if (cell.read_time < clock.barrier) race = false;
    else if (shared && cell.reader & kManyWaves) race = is_unordered_with_any(cell.read_time);
    else if (shared || thread != current->index) race = is_unordered(thread, cell.read_time);
    else race = false;
    if (race) add_finding(Kind::kRace, access, thread, cell.read_time >= clock.block, false, other_operation(cell.read_time));
}

// Another read since the last barrier: by this thread of other bytes, or by other threads. Bytes that several threads
// read are known as shared. Of the rest of the cell the last reader is kept: those of an earlier one are forgotten, so
// that threads which change neighbouring halves in place are not taken for one another.
void note_read(Cell& cell, uint8_t bytes) {
    uint16_t thread = cell.reader & kThreadMask;
    uint8_t shared = cell.read >> kShared, own = cell.read & ((1 << kShared) - 1);
    if (thread == current->index) {
        own |= bytes & ~shared;
    } else {
        bool same_wave = wave_of(thread) == wave_of(current->index);
        // What another lane of this wave read before the lanes last met is done with.
        bool done_with = same_wave && !(cell.reader & kManyWaves) && cell.read_time < clock.wave[wave_of(thread)];
        uint8_t met = done_with ? 0 : (shared | own) & bytes;
        if (done_with) shared = 0;
        // The flags are those of all shared bytes: a lane of another wave that met nobody is left out.
        if (!met && shared && !same_wave) return;
        shared |= met;
        own = bytes & ~shared;
        uint16_t flags = cell.reader & kManyWaves;
        if (met) flags |= same_wave ? kSameWave : kManyWaves;
        else if (!shared) flags = 0;
        else flags |= cell.reader & kSameWave;
        cell.reader = current->index | flags;
    }
    cell.read = uint8_t(shared << kShared | own);
    cell.read_time = clock.now;
}

void out_of_bounds(const Region& region, const Access& access) {
    add_finding(Kind::kOutOfBounds, access);
    if (&region != &arena) stop(Status::kStopped);
}

void misaligned(const Access& access) {
    add_finding(Kind::kMisaligned, access);
    stop(Status::kStopped);
}

bool elsewhere(const Access& access, Mode mode) {
    if (in_stacks(access.address)) return false;
    if (variables.has(access.address)) {
        size_t offset = variables.offset(access.address);
        if (mode == Mode::kVolatile) check_region<false, Mode::kVolatile>(variables, offset, access.size, since_launch(), access);
        else if (mode == Mode::kAtomic) check_region<true, Mode::kAtomic>(variables, offset, access.size, since_launch(), access);
        else if (access.write) check_region<true, Mode::kPlain>(variables, offset, access.size, since_launch(), access);
        else check_region<false, Mode::kPlain>(variables, offset, access.size, since_launch(), access);
        return true;
    }
    if (!access.write && is_constant(access.address)) return false;
    bool inside = locate(access.address).space != Space::kNowhere;
    add_finding(inside ? Kind::kOutOfBounds : Kind::kHostPointer, access);
    stop(Status::kStopped);
}

void touch_range(const void* address, size_t size, bool write) {
    if (!size || !has_order()) return;
    Region* region = arena.has(address) ? &arena : variables.has(address) ? &variables : nullptr;
    if (!region) return;
    Access access{address, uint32_t(size), write, 0};
    size_t offset = region->offset(address);
    if (write) check_cells<true, Mode::kPlain>(*region, offset, size, true, since_launch(), access);
    else check_cells<false, Mode::kPlain>(*region, offset, size, true, since_launch(), access);
}

}  // namespace kv
