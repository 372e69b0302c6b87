// Which operations of a plan are ordered, where it has several streams.
#pragma once

#include <cstdint>

namespace kv {

// Nothing orders the next operation after those of `beside`, whatever was issued first.
void order(const uint32_t* beside, uint32_t count);
void forget_order();
// Whether any operation since `forget_order` was told its order.
bool has_order();
// The clock for the operation that begins, which the report has the number of.
void operation_begins();
// The time is in an operation that nothing orders before the current one.
bool is_beside(uint32_t time);
// The number, and 1, of the operation that a time is in; 0: it is in the current one.
uint32_t other_operation(uint32_t time);

}  // namespace kv
