// The memories of the model: device buffers, LDS, module variables. Each is one range of addresses with objects in it,
// apart from one another by guards, and a shadow cell for every four bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kv {

constexpr size_t kDynamicLdsBytes = 160 << 10;

// What is known of four bytes. Readers and writers are thread numbers within their block; times say which block.
struct Cell {
    uint32_t write_time;   // of cells in pieces: when one was last touched
    uint32_t read_time;    // of cells in pieces: the number of the pieces
    uint16_t writer;
    uint16_t reader;       // with kSameWave, kManyWaves
    uint8_t written;       // bytes of the last write; kAtomic
    uint8_t read;          // bytes read since: by the reader alone; by several threads, times 1 << kShared
    uint8_t initialised;   // bytes that were ever written
    uint8_t cut;           // into halves or bytes, each with a cell of its own: see pieces.h
};
constexpr uint16_t kSameWave = 0x4000;   // lanes of the reader's wave share bytes since the last barrier
constexpr uint16_t kManyWaves = 0x8000;  // lanes of several waves do
constexpr uint16_t kThreadMask = 0x3ff;
constexpr uint8_t kAtomic = 0x80;
constexpr unsigned kShared = 4;
constexpr uint8_t kWhole = 15;  // all bytes of a cell

struct Object {
    size_t start, size;  // within the region; the first object of each region is none
    bool initialised;    // from the beginning
};

enum class Space : uint32_t { kGlobal = 0, kStaticLds = 1, kDynamicLds = 2, kVariable = 3, kNowhere = 4 };

struct Region {
    char* base;
    size_t size;
    Cell* cells;
    const Object* objects;
    const uint16_t* object_at;  // by offset >> shift
    unsigned object_count;
    unsigned shift;
    bool is_lds;

    bool has(const void* address) const { return static_cast<size_t>(static_cast<const char*>(address) - base) < size; }
    size_t offset(const void* address) const { return static_cast<size_t>(static_cast<const char*>(address) - base); }
};

extern Region arena, lds, variables;

// An entry of the tables that the image's IR holds; each ends with a null name.
struct NamedRange {
    const char* name;
    char* address;
    uint64_t size;
};

// Makes the arena with `count` buffers of `sizes`, none of them written yet, and takes in the image's tables.
bool make_memory(const uint64_t* sizes, unsigned count);
// All as after make_memory: poison in buffers and LDS, first values in variables, empty shadows.
void reset_memory(uint8_t poison);
char* buffer_address(unsigned index);
void mark_buffer_initialised(unsigned index);
// Poisons the LDS that the last block wrote.
void reset_lds();
void note_lds_write(size_t offset);
void set_dynamic_lds(size_t size);
const NamedRange* find_variable(const char* name);
void mark_initialised(const void* address, size_t size);
void copy_initialised(const void* to, const void* from, size_t size);

// Where an address is: the nearest object, and how far from its start.
struct Place {
    Space space;
    int32_t object;  // number of the buffer, of the table's entry; -1: none
    int64_t offset;
    uint64_t size;
};
Place locate(const void* address);
// The symbol of an LDS or module variable; empty for the rest.
const char* name_of(const Place& place);
// The program's own code and constants, which a kernel may read.
bool is_constant(const void* address);

}  // namespace kv
