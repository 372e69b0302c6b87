#pragma once
#include <cstdint>

#include <hip/hip_runtime_api.h>

namespace recorder {

// What the assumed device is: its name and target; compute units, bytes of LDS of each, kHz, bytes of an L2, and the minor
// number of its compute capability. Before anything is asked.
void set_device(const char* name, const char* target, const int64_t* numbers);

// LDS of a compute unit.
int lds_bytes();

// The properties of the assumed device; records each of them as told.
hipDeviceProp_t* device_properties();

}  // namespace recorder
