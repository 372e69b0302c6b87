// Cells cut into pieces: what is known of each half, or of each byte, where threads part a word.
#pragma once

#include "memory.h"

namespace kv {

// `of[0]` and `of[2]` are halves until a byte is touched alone.
struct Pieces {
    Cell of[4];
};
constexpr uint8_t kHalves = 1, kBytes = 2;

// Cuts a cell; false where there is no room for more pieces, and the cell stays as lossy as it is. Those of
// LDS last until a barrier, others for a launch.
bool cut(Cell& cell, bool is_lds);
Pieces& pieces_of(const Cell& cell, bool is_lds);
// Each half becomes two bytes.
void cut_halves(Cell& cell, Pieces& pieces);
// No cell is cut any more that was cut before.
void forget_pieces(bool is_lds);

}  // namespace kv
