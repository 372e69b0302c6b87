// Which word of a memory the most atomic operations went to.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kv {

// A word that finds no place is left out: it came late, and is hardly the hottest.
class HottestAddress {
public:
    void clear();
    void count(size_t offset);
    // In the launch. A word that several blocks went to is one of all blocks: its count is times `scale`.
    uint64_t of_launch(double scale) const;
    // In one block.
    uint64_t of_block() const;

private:
    struct Entry {
        size_t word;     // counted from 1; 0: free
        uint64_t count;
        uint64_t block;  // the last one that went to it
        uint64_t here;   // of `count`, in that block
        uint64_t most;   // in one block
        bool shared;     // several blocks did
    };
    static constexpr unsigned kEntries = 1 << 12, kProbes = 16;
    Entry entries_[kEntries];
};

}  // namespace kv
