// Device memory: address space that nobody maps, so that host code which touches it faults. Base and spacing differ
// between the two runs of a recording: what moves with them is a pointer.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "trace.h"

namespace recorder {

// What differs between the runs.
struct Settings {
    uint64_t base;
    uint64_t spacing;  // more gaps between neighbours: q - p is no constant either
    uint64_t noise;    // what a measured time holds
};

struct Allocation {
    uintptr_t address;
    size_t bytes;
    Role role;
    bool freed;
};

void open_arena(const Settings& settings);
const Settings& settings();

// A new range, never used before. Null for zero bytes. Records it.
void* allocate(size_t bytes, Role role, uint64_t position, std::string_view name);
// False if `pointer` is no start of a live allocation.
bool release(void* pointer);
// The allocation in whose range or guard `pointer` lies, or null.
const Allocation* find(const void* pointer);
// Whether `pointer` is an address of device memory at all.
bool owns(const void* pointer);
// Whether `pointer` lies in memory of hipHostMalloc (in memory.cpp).
bool is_pinned(const void* pointer);
// Bytes of live allocations.
size_t allocated_bytes();

constexpr size_t kDeviceBytes = size_t{192} << 30;

}  // namespace recorder
