// Where a thread is in the source, as svc_compiler/hip/positions.py numbers it: in which calls, at which wait, in which
// rounds of loops. Lanes of a wave that are at one position act together; of two others the one with the longer way to
// where they meet goes first.
#pragma once

#include <cstdint>

namespace kv {

// Calls and loops at once; what is further in is not told apart.
constexpr unsigned kMostCalls = 16, kMostLaps = 12;

// A loop's end that a lane has passed since the lanes of its wave were last together.
struct Lap {
    uint32_t end, depth, count;
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

}  // namespace kv
