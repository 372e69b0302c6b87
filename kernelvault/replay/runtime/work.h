// Counts what kernels compute, from how often their blocks of code run; see svc_compiler/hip/counting.py.
#pragma once

#include "report.h"

namespace kv {

void begin_work();
// The running lane stops, for now or for good.
void lane_stops();
// The lanes that ran since the last call were one wave's, and are together again.
void end_turn();
void end_work(CounterRecord& record);

}  // namespace kv
