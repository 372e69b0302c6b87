// Where a thread is in the source, as svc_compiler/hip/positions.py numbers it: in which calls, at which wait, in which
// rounds of loops. Lanes of a wave that are at one position act together; of two others the one with the longer way to
// where they meet goes first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace kv {

// Calls and loops at once; what is further in is not told apart.
constexpr unsigned kMostCalls = 8, kMostLaps = 8;

// A loop's end that a lane has passed since the lanes of its wave were last together.
struct Lap {
    uint32_t end, depth : 8, count : 24;
};

struct Position {
    uint32_t depth, site, waits, lap_count;
    uint32_t calls[kMostCalls];  // that have not returned, from the kernel inwards
    Lap laps[kMostLaps];

    void begin() { depth = site = waits = lap_count = 0; }
    void set_site(uint32_t number) { site = number, waits = 0; }
    void enter(uint32_t number) {
        if (depth < kMostCalls) calls[depth] = number;
        depth++;
        set_site(0);
    }
    void leave() { depth--; }
    void end_lap(uint32_t end);
};

// Negative: `one` goes first; 0: they are at the same position.
int compare(const Position& one, const Position& other);

// Whether two positions are plainly the same, for which `compare` gives 0. It does so for others, too.
inline bool is_equal(const Position& one, const Position& other) {
    if (memcmp(&one, &other, offsetof(Position, calls))) return false;
    for (unsigned i = 0; i < one.lap_count; i++)
        if (memcmp(&one.laps[i], &other.laps[i], sizeof(Lap))) return false;
    for (unsigned i = 0; i < one.depth && i < kMostCalls; i++)
        if (one.calls[i] != other.calls[i]) return false;
    return true;
}

}  // namespace kv
