// What <ATen/hip/HIPContext.h> and <ATen/cuda/CUDAContext.h> bring: streams, properties, checks. Text of our own.
#pragma once
#include <ATen/ATen.h>
#include <c10/hip/HIPException.h>
#include <c10/hip/HIPGuard.h>
#include <c10/hip/HIPStream.h>

namespace at {

inline bool hasCUDA() { return true; }
inline bool hasHIP() { return true; }

namespace cuda {
hipDeviceProp_t* getCurrentDeviceProperties();
inline hipDeviceProp_t* getDeviceProperties(c10::DeviceIndex) { return getCurrentDeviceProperties(); }
inline int warp_size() { return 64; }
inline bool is_available() { return true; }
inline int64_t getNumGPUs() { return 1; }
}  // namespace cuda

namespace hip {
using cuda::getCurrentDeviceProperties;
using cuda::getDeviceProperties;
using cuda::warp_size;
}  // namespace hip

}  // namespace at
