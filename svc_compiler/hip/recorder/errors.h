// The last error of the calling thread, as HIP keeps it.
#pragma once
#include <hip/hip_runtime_api.h>

namespace recorder {

// Remembers an error for hipGetLastError and hands it on.
hipError_t done(hipError_t error);
// Records that the recorder cannot do what was asked; the candidate then needs a device.
hipError_t unsupported(const char* what);

}  // namespace recorder
