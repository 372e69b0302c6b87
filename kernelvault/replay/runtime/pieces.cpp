#include "pieces.h"

#include <sys/mman.h>

#include "model.h"

namespace kv {
namespace {

struct Pool {
    Pieces* pieces;
    uint32_t used, most;
} pools[2] = {{nullptr, 0, 1 << 20}, {nullptr, 0, kDynamicLdsBytes}};

bool has_room(Pool& pool) {
    if (pool.used == pool.most) return false;
    if (pool.pieces) return true;
    void* got = mmap(nullptr, pool.most * sizeof(Pieces), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got == MAP_FAILED) return false;
    pool.pieces = static_cast<Pieces*>(got);
    return true;
}

// What is known of some of a cell's bytes.
Cell part(const Cell& cell, uint8_t bytes) {
    Cell made = cell;
    made.cut = 0;
    made.written &= bytes | kAtomic;
    if (!(made.written & bytes)) made.write_time = made.written = 0;
    made.read &= uint8_t(bytes << kShared | bytes);
    if (!made.read) made.read_time = made.reader = 0;
    return made;
}

}  // namespace

bool cut(Cell& cell, bool is_lds) {
    Pool& pool = pools[is_lds];
    if (!has_room(pool)) return false;
    Pieces& pieces = pool.pieces[pool.used];
    pieces.of[0] = part(cell, 3);
    pieces.of[2] = part(cell, 12);
    cell.cut = kHalves;
    cell.read_time = pool.used++;
    cell.write_time = clock.now;
    return true;
}

Pieces& pieces_of(const Cell& cell, bool is_lds) { return pools[is_lds].pieces[cell.read_time]; }

void cut_halves(Cell& cell, Pieces& pieces) {
    for (unsigned half = 0; half < 4; half += 2) {
        Cell whole = pieces.of[half];
        for (unsigned byte = half; byte < half + 2; byte++) pieces.of[byte] = part(whole, uint8_t(1 << byte));
    }
    cell.cut = kBytes;
}

void forget_pieces(bool is_lds) { pools[is_lds].used = 0; }

}  // namespace kv
