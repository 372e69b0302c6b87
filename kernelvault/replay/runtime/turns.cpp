#include "turns.h"

#include "narrow.h"

namespace kv {
namespace {

// LDS has 32 banks of 4 bytes, since CDNA 4 64. It serves a wave in phases of as many lanes as have a word for each bank,
// and a phase in as many passes as its busiest bank has different words. Phases are of neighbours, but reads of 16 bytes
// pair four lanes with the four that are 20 further, or 12: https://rocm.docs.amd.com/projects/composable_kernel/en/latest/
// conceptual/ck_tile/hardware/lds_bank_conflicts.html. How 64 banks are served is not written there: by neighbours here.
constexpr unsigned kMostBanks = 64;
constexpr uint8_t kWideRead[32] = {0, 1, 2,  3,  20, 21, 22, 23, 4,  5,  6,  7,  16, 17, 18, 19,
                                   8, 9, 10, 11, 28, 29, 30, 31, 12, 13, 14, 15, 24, 25, 26, 27};

unsigned widest(const Turn& turn) {
    unsigned bytes = 0;
    for (uint64_t left = turn.mask; left; left &= left - 1) {
        unsigned lane = unsigned(__builtin_ctzll(left));
        if (turn.bytes[lane] > bytes) bytes = turn.bytes[lane];
    }
    return bytes;
}

// Passes of a phase: for the busiest bank, its different words.
unsigned passes_of(const Turn& turn, const uint8_t* lanes, unsigned count, unsigned banks) {
    uint32_t words[kMostBanks][kLanes];
    uint8_t used[kMostBanks] = {};
    unsigned most = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned lane = lanes[i];
        if (!(turn.mask >> lane & 1)) continue;
        uint32_t first = turn.words[lane];
        for (uint32_t word = first; word < first + (turn.bytes[lane] + 3u) / 4; word++) {
            unsigned bank = word % banks, k = 0;
            while (k < used[bank] && words[bank][k] != word) k++;
            if (k == used[bank]) words[bank][used[bank]++] = word;
            if (used[bank] > most) most = used[bank];
        }
    }
    return most;
}

uint64_t pieces(const Turn& turn, uint64_t size) {
    uint64_t seen[2 * kLanes];
    unsigned count = 0;
    for (uint64_t left = turn.mask; left; left &= left - 1) {
        unsigned lane = unsigned(__builtin_ctzll(left));
        uint64_t offset = 4ull * turn.words[lane], last = (offset + turn.bytes[lane] - 1) / size;
        for (uint64_t piece = offset / size; piece <= last; piece++) {
            unsigned i = count;
            while (i && seen[i - 1] != piece) i--;
            if (!i && count < 2 * kLanes) seen[count++] = piece;
        }
    }
    return count;
}

}  // namespace

void count_lines(const Turn& turn, Traffic& traffic) {
    for (uint64_t left = turn.mask; left; left &= left - 1) traffic.asked += turn.bytes[__builtin_ctzll(left)];
    traffic.segments += pieces(turn, kSegment);
    traffic.lines += pieces(turn, kLine);
}

void count_passes(const Turn& turn, bool write, Traffic& traffic) {
    unsigned banks = kernel_target >= 0x950 ? 64 : 32, bytes = widest(turn);
    unsigned words = bytes <= 4 ? 1 : bytes <= 8 ? 2 : 4, lanes = banks / words;
    bool paired = words == 4 && !write && banks == 32;
    for (unsigned first = 0; first < kLanes; first += lanes) {
        uint8_t phase[kLanes];
        for (unsigned i = 0; i < lanes; i++)
            phase[i] = uint8_t(paired ? first / 32 * 32 + kWideRead[(first + i) % 32] : first + i);
        unsigned passes = passes_of(turn, phase, lanes, banks);
        if (!passes) continue;
        traffic.passes++;
        traffic.extra += passes - 1;
    }
}

void count_contention(const Turn& turn, Contention& contention) {
    for (uint64_t left = turn.mask; left;) {
        uint32_t word = turn.words[__builtin_ctzll(left)];
        uint64_t count = 0;
        for (uint64_t other = left; other; other &= other - 1) {
            unsigned lane = unsigned(__builtin_ctzll(other));
            if (turn.words[lane] != word) continue;
            left &= ~(uint64_t{1} << lane);
            count++;
        }
        contention.repeats += count - 1;
        if (count > contention.most) contention.most = count;
    }
}

}  // namespace kv
