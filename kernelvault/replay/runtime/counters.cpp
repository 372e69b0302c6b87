// What the lanes of a wave access at one place of the code is one instruction; turns.cpp says what it costs. Accesses of a
// lane that follow one another in code and in memory are one of up to 16 bytes: the compiler for x86-64 takes a float4
// apart, the one for the GPU does not.
#include "counters.h"

#include <cstring>

#include "addresses.h"
#include "model.h"
#include "pages.h"
#include "scheduler.h"
#include "shadow.h"
#include "turns.h"
#include "work.h"

namespace kv {

bool counting;
uint64_t matrix_flops[kMatrixTypes];

namespace {

constexpr unsigned kMostSites = 1 << 12, kMostTurns = 1 << 17;

enum class Use : uint8_t { kRead, kWrite, kAtomic };

struct Site {
    uintptr_t code;
    Space space;
    Use use;
    uint16_t lane;
    uint32_t first, cursor;  // turns; the current lane is at `cursor`
    uint32_t generation;
};

// The last access of the running lane, which the next one may widen.
struct Open {
    Turn* turn;
    const Thread* thread;
    Space space;
    bool write;
    size_t end;
} open;
constexpr uint32_t kWidest = 16;

struct Totals {
    uint64_t bytes[2], lds_bytes[2];
    Traffic traffic;
    Contention atomics, lds_atomics;
} totals;
HottestAddress hottest, hottest_in_lds;

Site* sites;
Turn* turns;
uint32_t turn_count, generation;
unsigned counted_wave;
uint16_t used_sites[kMostSites];
unsigned used_count;
uint64_t* lines;  // a bit for each segment of the arena

Site* find_site(uintptr_t code, Space space, Use use) {
    unsigned at = unsigned(code * 0x9E3779B97F4A7C15ull >> 52);
    for (unsigned probe = 0; probe < kMostSites; probe++, at = (at + 1) % kMostSites) {
        Site& site = sites[at];
        if (site.generation != generation) {
            site = {code, space, use, 0xffff, 0, 0, generation};
            used_sites[used_count++] = uint16_t(at);
            return &site;
        }
        if (site.code == code && site.space == space && site.use == use) return &site;
    }
    return nullptr;
}

// The turn of the running lane at this site: its next one, made when it is the first lane to get there.
Turn* next_turn(Site& site) {
    unsigned mine = lane();
    uint32_t* link = site.lane == mine ? &turns[site.cursor].next : &site.first;
    if (!*link) {
        if (turn_count + 1 >= kMostTurns) return nullptr;
        *link = ++turn_count;
        turns[turn_count].mask = 0;
        turns[turn_count].next = 0;
    }
    site.cursor = *link;
    site.lane = uint16_t(mine);
    return &turns[site.cursor];
}

bool widen(Space space, size_t offset, uint32_t size, bool write) {
    if (!open.turn || open.thread != current || open.space != space || open.write != write || open.end != offset) return false;
    uint8_t& bytes = open.turn->bytes[lane()];
    if (bytes + size > kWidest) return false;
    bytes = uint8_t(bytes + size);
    open.end = offset + size;
    return true;
}

void take(const Site& site, const Turn& turn) {
    bool global = site.space == Space::kGlobal;
    if (site.use == Use::kAtomic) count_contention(turn, global ? totals.atomics : totals.lds_atomics);
    else if (global) count_lines(turn, totals.traffic);
    else count_passes(turn, site.use == Use::kWrite, totals.traffic);
}

void flush() {
    for (unsigned i = 0; i < used_count; i++) {
        const Site& site = sites[used_sites[i]];
        for (uint32_t at = site.first; at; at = turns[at].next) take(site, turns[at]);
    }
    used_count = 0;
    turn_count = 0;
    generation++;
    open.turn = nullptr;
}

// The turn of the running lane at `code`; the lanes of a wave run one after another, then those of the next.
Turn* take_turn(Space space, Use use, size_t offset, uint32_t size, uintptr_t code) {
    Site* site = find_site(code, space, use);
    Turn* turn = site ? next_turn(*site) : nullptr;
    if (!turn) return nullptr;
    turn->mask |= uint64_t{1} << lane();
    turn->words[lane()] = uint32_t(offset / 4);
    turn->bytes[lane()] = uint8_t(size < kWidest ? size : kWidest);
    return turn;
}

void check_wave() {
    unsigned wave = wave_of(current->index);
    if (wave != counted_wave) flush();
    counted_wave = wave;
}

}  // namespace

void begin_counting() {
    if (!sites) {
        sites = pages<Site>(kMostSites);
        turns = pages<Turn>(kMostTurns);
    }
    if (!lines) lines = pages<uint64_t>(arena.size / kSegment / 64 + 1);
    memset(lines, 0, (arena.size / kSegment / 64 + 1) * 8);
    totals = {};
    hottest.clear();
    hottest_in_lds.clear();
    begin_work();
    memset(matrix_flops, 0, sizeof matrix_flops);
    generation++;
    used_count = turn_count = 0;
}

void wave_met(unsigned) {
    if (!counting) return;
    if (used_count) flush();
    end_turn();
}

void count_access(Space space, size_t offset, uint32_t size, bool write, uintptr_t code) {
    check_wave();
    bool global = space == Space::kGlobal;
    (global ? totals.bytes : totals.lds_bytes)[write] += size;
    if (global)
        for (size_t line = offset / kSegment; line <= (offset + size - 1) / kSegment; line++)
            lines[line / 64] |= uint64_t{1} << line % 64;
    if (widen(space, offset, size, write)) return;
    Turn* turn = take_turn(space, write ? Use::kWrite : Use::kRead, offset, size, code);
    if (turn) open = {turn, current, space, write, offset + size};
}

void count_atomic(Space space, size_t offset, uintptr_t code) {
    check_wave();
    bool global = space == Space::kGlobal;
    (global ? totals.atomics : totals.lds_atomics).operations++;
    (global ? hottest : hottest_in_lds).count(offset);
    take_turn(space, Use::kAtomic, offset, 4, code);
}

void end_counting(uint64_t blocks, uint64_t sampled) {
    flush();
    counting = false;
    CounterRecord* record = add_counters();
    if (!record) return;
    // What few blocks read, others may read again: no buffer counts for more than it holds.
    uint64_t unique = 0;
    for (unsigned i = 1; i < arena.object_count; i++) {
        size_t first = arena.objects[i].start / kSegment, count = (arena.objects[i].size + kSegment - 1) / kSegment;
        uint64_t touched = 0;
        for (size_t line = first; line < first + count; line++) touched += lines[line / 64] >> line % 64 & 1;
        uint64_t scaled = touched * blocks / sampled;
        unique += scaled < count ? scaled : count;
    }
    record->blocks = blocks;
    record->sampled_blocks = sampled;
    record->global_read_bytes = totals.bytes[0];
    record->global_write_bytes = totals.bytes[1];
    record->global_segments = totals.traffic.segments;
    record->global_lines = totals.traffic.lines;
    record->global_asked_bytes = totals.traffic.asked;
    record->lds_read_bytes = totals.lds_bytes[0];
    record->lds_write_bytes = totals.lds_bytes[1];
    record->lds_passes = totals.traffic.passes;
    record->lds_extra_passes = totals.traffic.extra;
    record->atomics = totals.atomics.operations;
    record->atomic_repeats = totals.atomics.repeats;
    record->most_lanes_on_a_word = totals.atomics.most;
    record->hottest_atomic = hottest.of_launch(double(blocks) / double(sampled));
    record->lds_atomics = totals.lds_atomics.operations;
    record->lds_atomic_repeats = totals.lds_atomics.repeats;
    record->most_lanes_on_a_word_of_lds = totals.lds_atomics.most;
    record->hottest_lds_atomic = hottest_in_lds.of_block();
    record->barriers = barriers_passed();
    memcpy(record->matrix_flops, matrix_flops, sizeof matrix_flops);
    record->unique_lines = unique;
    end_work(*record);
}

}  // namespace kv
