// Counts what a launch asks of the memories, wave by wave, as the hardware would serve it.
#pragma once

#include "memory.h"
#include "report.h"

namespace kv {

extern bool counting;
// By type of the operands.
extern uint64_t matrix_flops[kMatrixTypes];

void begin_counting();
// One lane's access. Lanes of a wave that reach the same code for the nth time since they last met are one instruction.
void count_access(Space space, size_t offset, uint32_t size, bool write, uintptr_t code);
// One lane's atomic operation.
void count_atomic(Space space, size_t offset, uintptr_t code);
void end_counting(uint64_t blocks, uint64_t sampled);

}  // namespace kv
