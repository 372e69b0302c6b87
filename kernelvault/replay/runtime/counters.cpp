// A global access of a wave costs a segment of 64 bytes for each that its lanes touch. LDS has 32 banks of 4 bytes: half
// a wave is served at once, in as many passes as the busiest bank has different words; wider accesses are split into
// passes of 4 bytes a lane. Accesses of a lane that follow one another in code and in memory are one of up to 16 bytes:
// the compiler for x86-64 takes a float4 apart, the one for the GPU does not.
#include "counters.h"

#include <cstring>
#include <sys/mman.h>

#include "model.h"
#include "scheduler.h"
#include "shadow.h"
#include "work.h"

namespace kv {

bool counting;
uint64_t matrix_flops;

namespace {

constexpr unsigned kMostSites = 1 << 12, kMostTurns = 1 << 17, kSegment = 64, kBanks = 32, kHalf = 32;

// One instruction of a wave: the same code, the nth time since the lanes last met.
struct Turn {
    uint64_t mask;
    uint32_t next;  // of the same site; 0: none
    uint32_t words[kLanes];  // offset / 4
    uint8_t bytes[kLanes];
};

struct Site {
    uintptr_t code;
    Space space;
    bool atomic;
    uint32_t first, cursor;  // turns; the current lane is at `cursor`
    uint16_t lane;
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
    uint64_t bytes[2], lds_bytes[2], segments, lines, asked, passes, extra, atomics, lds_atomics, repeats;
} totals;

Site* sites;
Turn* turns;
uint32_t turn_count, generation;
unsigned counted_wave;
uint16_t used_sites[kMostSites];
unsigned used_count;
uint64_t* lines;  // a bit for each segment of the arena

template <class T>
T* pages(size_t count) {
    return static_cast<T*>(
        mmap(nullptr, count * sizeof(T) + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
}

// Words of global memory that atomic operations went to. A word that finds no place is not the hottest.
constexpr unsigned kMostHot = 1 << 12, kHotProbes = 16;
struct Hot {
    uint32_t word;  // and 1
    uint32_t count;
} hot[kMostHot];

void heat(uint32_t word) {
    unsigned at = word * 0x9E3779B1u >> 20;
    for (unsigned probe = 0; probe < kHotProbes; probe++, at = (at + 1) % kMostHot) {
        if (hot[at].word && hot[at].word != word + 1) continue;
        hot[at].word = word + 1;
        hot[at].count++;
        return;
    }
}

uint64_t hottest() {
    uint32_t most = 0;
    for (const Hot& one : hot)
        if (one.count > most) most = one.count;
    return most;
}

Site* find_site(uintptr_t code, Space space, bool atomic) {
    unsigned at = unsigned(code * 0x9E3779B97F4A7C15ull >> 52);
    for (unsigned probe = 0; probe < kMostSites; probe++, at = (at + 1) % kMostSites) {
        Site& site = sites[at];
        if (site.generation != generation) {
            site = {code, space, atomic, 0, 0, 0xffff, generation};
            used_sites[used_count++] = uint16_t(at);
            return &site;
        }
        if (site.code == code && site.space == space && site.atomic == atomic) return &site;
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

void count_segments(const Turn& turn) {
    uint64_t seen[2 * kLanes];
    unsigned count = 0;
    for (uint64_t left = turn.mask; left; left &= left - 1) {
        unsigned lane = unsigned(__builtin_ctzll(left));
        uint64_t offset = 4ull * turn.words[lane], size = turn.bytes[lane];
        for (uint64_t segment = offset / kSegment; segment <= (offset + size - 1) / kSegment; segment++) {
            unsigned i = count;
            while (i && seen[i - 1] != segment) i--;
            if (!i && count < 2 * kLanes) seen[count++] = segment;
        }
        totals.asked += size;
    }
    totals.segments += count;
    // Segments in halves of lines: a line counts for the first of its halves that was seen.
    for (unsigned i = 0; i < count; i++) {
        unsigned k = 0;
        while (k < i && seen[k] / 2 != seen[i] / 2) k++;
        totals.lines += k == i;
    }
}

// Lanes of one instruction that aim at one word are served one after the other.
void count_repeats(const Turn& turn) {
    uint32_t seen[kLanes];
    unsigned count = 0;
    for (uint64_t left = turn.mask; left; left &= left - 1) {
        uint32_t word = turn.words[__builtin_ctzll(left)];
        unsigned i = 0;
        while (i < count && seen[i] != word) i++;
        if (i == count) seen[count++] = word;
        else totals.repeats++;
    }
}

void count_passes(const Turn& turn) {
    for (uint32_t word = 0; word < kWidest; word += 4)
        for (unsigned half = 0; half < kLanes; half += kHalf) {
            uint32_t words[kBanks][kHalf];
            uint8_t used[kBanks] = {};
            unsigned most = 0;
            for (unsigned i = half; i < half + kHalf; i++) {
                if (!(turn.mask >> i & 1) || word >= turn.bytes[i]) continue;
                uint32_t wanted = turn.words[i] + word / 4, bank = wanted % kBanks;
                unsigned k = 0;
                while (k < used[bank] && words[bank][k] != wanted) k++;
                if (k == used[bank]) words[bank][used[bank]++] = wanted;
                if (used[bank] > most) most = used[bank];
            }
            if (!most) continue;
            totals.passes++;
            totals.extra += most - 1;
        }
}

bool widen(Space space, size_t offset, uint32_t size, bool write) {
    if (!open.turn || open.thread != current || open.space != space || open.write != write || open.end != offset) return false;
    uint8_t& bytes = open.turn->bytes[lane()];
    if (bytes + size > kWidest) return false;
    bytes = uint8_t(bytes + size);
    open.end = offset + size;
    return true;
}

void flush() {
    for (unsigned i = 0; i < used_count; i++) {
        const Site& site = sites[used_sites[i]];
        for (uint32_t at = site.first; at; at = turns[at].next)
            if (site.atomic) count_repeats(turns[at]);
            else if (site.space == Space::kGlobal) count_segments(turns[at]);
            else count_passes(turns[at]);
    }
    used_count = 0;
    turn_count = 0;
    generation++;
    open.turn = nullptr;
}

// The turn of the running lane at `code`; the lanes of a wave run one after another, then those of the next.
Turn* take_turn(Space space, bool atomic, size_t offset, uint32_t size, uintptr_t code) {
    Site* site = find_site(code, space, atomic);
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
    memset(hot, 0, sizeof hot);
    begin_work();
    matrix_flops = 0;
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
    if (Turn* turn = take_turn(space, false, offset, size, code)) open = {turn, current, space, write, offset + size};
}

void count_atomic(Space space, size_t offset, uintptr_t code) {
    check_wave();
    totals.atomics++;
    if (space != Space::kGlobal) totals.lds_atomics++;
    else heat(uint32_t(offset / 4));
    take_turn(space, true, offset, 4, code);
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
    record->global_segments = totals.segments;
    record->global_asked_bytes = totals.asked;
    record->lds_read_bytes = totals.lds_bytes[0];
    record->lds_write_bytes = totals.lds_bytes[1];
    record->lds_passes = totals.passes;
    record->lds_extra_passes = totals.extra;
    record->atomics = totals.atomics;
    record->barriers = barriers_passed();
    record->matrix_flops = matrix_flops;
    record->unique_lines = unique;
    record->global_lines = totals.lines;
    record->lds_atomics = totals.lds_atomics;
    record->atomic_repeats = totals.repeats;
    record->hottest_atomic = hottest();
    end_work(*record);
}

}  // namespace kv
