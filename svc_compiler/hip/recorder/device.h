#pragma once
#include <hip/hip_runtime_api.h>

namespace recorder {

// The properties of the assumed device; records each of them as told.
hipDeviceProp_t* device_properties();

}  // namespace recorder
