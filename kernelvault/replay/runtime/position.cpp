#include "position.h"

#include <algorithm>

namespace kv {
namespace {

uint32_t laps_of(const Position& position, const Lap& lap) {
    for (unsigned i = 0; i < position.lap_count; i++)
        if (position.laps[i].end == lap.end && position.laps[i].depth == lap.depth) return position.laps[i].count;
    return 0;
}

// The loops of one call that both are in end further on. The outermost with different counts decides: what differs
// within it is of different rounds.
int compare_laps(const Position& one, const Position& other, uint32_t depth, uint32_t within) {
    uint32_t decisive = 0;
    int result = 0;
    if (one.lap_count + other.lap_count == 0) return 0;
    for (const Position* position : {&one, &other})
        for (unsigned i = 0; i < position->lap_count; i++) {
            const Lap& lap = position->laps[i];
            if (lap.depth != depth || lap.end <= within || lap.end <= decisive) continue;
            uint32_t mine = laps_of(one, lap), theirs = laps_of(other, lap);
            if (mine != theirs) decisive = lap.end, result = mine < theirs ? -1 : 1;
        }
    return result;
}

}  // namespace

void Position::end_lap(uint32_t end) {
    // Loops further in, and those of calls that have returned, begin anew.
    unsigned kept = 0;
    Lap* mine = nullptr;
    for (unsigned i = 0; i < lap_count; i++) {
        Lap lap = laps[i];
        if (lap.depth > depth || (lap.depth == depth && lap.end < end)) continue;
        laps[kept] = lap;
        if (lap.depth == depth && lap.end == end) mine = &laps[kept];
        kept++;
    }
    lap_count = kept;
    if (mine) mine->count++;
    else if (lap_count < kMostLaps) laps[lap_count++] = {end, depth, 1};
}

int compare(const Position& one, const Position& other) {
    for (uint32_t depth = 0; depth < kMostCalls; depth++) {
        uint32_t mine = depth < one.depth ? one.calls[depth] : one.site;
        uint32_t theirs = depth < other.depth ? other.calls[depth] : other.site;
        if (int laps = compare_laps(one, other, depth, std::max(mine, theirs))) return laps;
        if (mine != theirs) return mine < theirs ? -1 : 1;
        if (depth >= one.depth || depth >= other.depth) break;
    }
    return one.waits == other.waits ? 0 : one.waits < other.waits ? -1 : 1;
}

}  // namespace kv
