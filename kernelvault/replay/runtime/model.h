// What a running block is made of: threads as fibers, waves, the block and the clock that orders accesses.
#pragma once

#include <cstddef>
#include <cstdint>

#include "position.h"

namespace kv {

constexpr unsigned kLanes = 64;
constexpr unsigned kMaxThreads = 1024;
constexpr unsigned kMaxWaves = kMaxThreads / kLanes;

struct Extent {
    uint32_t x, y, z;
    uint64_t count() const { return uint64_t{x} * y * z; }
};

enum class State : uint8_t {
    kNew,      // not started
    kReady,    // runs in the next pass
    kBarrier,  // waits for its block
    kWave,     // waits for its wave
    kSpin,     // polls memory that another thread must write
    kDone,
};

// What lanes of a wave do together: `arguments[lane]` points into the stack of each lane in `mask`.
using WaveOperation = void (*)(uint64_t mask, void* const* arguments);

struct Thread {
    Extent id;
    uint16_t index;  // within the block
    State state;
    bool worked;     // it touched memory since the last barrier
    uint32_t polls;  // volatile and atomic reads since it last gave way
    void* stack_pointer;
    uintptr_t site;  // return address of the barrier that it waits at, in the kernel
    uintptr_t path;  // of that barrier and of all calls that led there, as one number
    const void* first_frame;
    WaveOperation operation;
    void* arguments;
    int vote;        // of a reducing barrier
    Position position;
};

struct Block {
    Extent id, threads, grid;
    unsigned count;        // of threads
    uint64_t serial;       // within the launch
    int votes_sum, votes_and, votes_or;
};

// Every event that orders accesses gets a new time, so that one comparison tells what came before it.
struct Clock {
    uint32_t now;
    uint32_t launch, block, barrier;  // when the current ones began
    uint32_t since;                   // when the first operation began that is not ordered before the launch
    uint32_t wave[kMaxWaves];         // when the lanes of a wave last met
};

extern Thread threads[kMaxThreads];
extern Thread* current;
extern Block block;
extern Clock clock;

inline unsigned wave_of(unsigned thread) { return thread / kLanes; }
inline unsigned lane() { return current->index % kLanes; }

// How a launch ended; the Python side has the same numbers.
enum class Status : int {
    kFinished = 0,
    kUnknownKernel = 1,
    kStopped = 2,   // at a finding after which going on would be harmful
    kTrapped = 3,   // the kernel's own trap: a failed assertion, abort()
    kSpinning = 4,  // every thread polls: it waits for a block that the model runs later
    kUnsupported = 5,
    kBadLaunch = 6,
    kInactiveLane = 7,  // an instruction reads registers of lanes that are switched off
};

}  // namespace kv
