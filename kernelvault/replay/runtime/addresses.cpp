#include "addresses.h"

#include <cstring>

#include "model.h"

namespace kv {

void HottestAddress::clear() { memset(entries_, 0, sizeof entries_); }

void HottestAddress::count(size_t offset) {
    size_t word = offset / 4 + 1;
    unsigned at = unsigned(word * 0x9E3779B97F4A7C15ull >> 52);
    for (unsigned probe = 0; probe < kProbes; probe++, at = (at + 1) % kEntries) {
        Entry& entry = entries_[at];
        if (!entry.word) entry = {word, 0, block.serial, 0, 0, false};
        if (entry.word != word) continue;
        if (entry.block != block.serial) entry.block = block.serial, entry.here = 0, entry.shared = true;
        entry.count++;
        if (++entry.here > entry.most) entry.most = entry.here;
        return;
    }
}

uint64_t HottestAddress::of_launch(double scale) const {
    uint64_t most = 0;
    for (const Entry& entry : entries_) {
        uint64_t count = entry.shared ? uint64_t(double(entry.count) * scale) : entry.count;
        if (count > most) most = count;
    }
    return most;
}

uint64_t HottestAddress::of_block() const {
    uint64_t most = 0;
    for (const Entry& entry : entries_)
        if (entry.most > most) most = entry.most;
    return most;
}

}  // namespace kv
