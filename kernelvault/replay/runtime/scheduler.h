// Runs the blocks of a launch, one at a time, each thread of a block as a fiber.
#pragma once

#include "model.h"

namespace kv {

struct Launch {
    Extent grid, threads;
    void (*kernel)(void* arguments);
    void* arguments;
    uint64_t sampled_blocks;  // 0: all; else that many, evenly spread
    bool backwards;           // blocks in reverse order
};

// Runs to the end or to the first fault.
Status run(const Launch& launch);
// Ends the launch from within a thread; does not return to it.
[[noreturn]] void stop(Status status);

// The running thread waits for all threads of its block that have not ended. `site` is where in the kernel, `frame` the
// caller's own.
void wait_for_block(uintptr_t site, const void* frame);
// The running thread waits until no lane of its wave can go on, then takes `operation` with those that are at its
// position.
void wait_for_wave(WaveOperation operation, void* arguments);
// The running thread polls; others go on.
void give_way();
// Ends the running thread.
[[noreturn]] void finish_thread();

// How many barriers all the launch's blocks passed.
uint64_t barriers_passed();

}  // namespace kv

// The address to which the running function returns, in the kernel: it tells one wait from another.
#define KV_SITE reinterpret_cast<uintptr_t>(__builtin_return_address(0))
