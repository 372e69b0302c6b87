// Fibers: a stack for each thread that waits, and a switch between them.
#pragma once

#include <cstddef>

namespace kv {

// A frame that AMD's compiler takes, of at most 128 KiB, fits.
constexpr size_t kStackBytes = 192 << 10;

// Saves the callee-saved registers on the running stack, keeps its pointer in `*save` and continues at `to`.
extern "C" void kv_switch(void** save, void* to);

// Makes the stacks, each with an unmapped page below it.
void make_stacks();
// A fresh stack that starts `entry` at the first switch to it. `number` < kMaxThreads.
void* new_stack(unsigned number, void (*entry)());
bool in_stacks(const void* address);

}  // namespace kv
