// Copies and fills of device memory, as operations of the plan.
#pragma once
#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace recorder {

// The direction is what the addresses say; `what` names the call that asked for it.
hipError_t copy(void* to, const void* from, size_t bytes, const char* what);
// Repeats `pattern` (`width` bytes) `count` times.
hipError_t fill(void* to, const void* pattern, size_t width, size_t count);
// Constants from the host: 64 KiB a call of the candidate in all.
void upload(void* to, const void* from, size_t bytes);
// A new call of the candidate: its budget of uploads is whole again.
void reset_uploads();

}  // namespace recorder
