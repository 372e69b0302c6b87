// Streams as libtorch hands them out. A launch plan serialises them. Text of our own.
#pragma once
#include <c10/core/Device.h>
#include <c10/macros/Macros.h>
#include <cuda_runtime_api.h>
#include <hip/hip_runtime.h>

namespace c10 {

class Stream;

namespace hip {

class HIPStream {
 public:
    HIPStream() = default;
    explicit HIPStream(hipStream_t stream) : stream_(stream) {}
    operator hipStream_t() const { return stream_; }
    hipStream_t stream() const { return stream_; }
    DeviceIndex device_index() const { return 0; }
    Device device() const { return Device(DeviceType::CUDA, 0); }
    int64_t id() const { return 0; }
    bool query() const { return hipStreamQuery(stream_) == hipSuccess; }
    void synchronize() const { (void)hipStreamSynchronize(stream_); }
    friend bool operator==(const HIPStream& a, const HIPStream& b) { return a.stream_ == b.stream_; }
    friend bool operator!=(const HIPStream& a, const HIPStream& b) { return a.stream_ != b.stream_; }

 private:
    hipStream_t stream_ = nullptr;
};

// Out of line, in the recorder.
HIPStream getCurrentHIPStream(DeviceIndex device = -1);
HIPStream getDefaultHIPStream(DeviceIndex device = -1);
HIPStream getStreamFromPool(bool high_priority = false, DeviceIndex device = -1);
void setCurrentHIPStream(HIPStream stream);

using HIPStreamMasqueradingAsCUDA = HIPStream;
inline HIPStream getCurrentHIPStreamMasqueradingAsCUDA(DeviceIndex = -1) { return getCurrentHIPStream(); }
inline HIPStream getStreamFromPoolMasqueradingAsCUDA(bool = false, DeviceIndex = -1) { return getStreamFromPool(); }
inline DeviceIndex device_count() { return 1; }
inline DeviceIndex current_device() { return 0; }
inline void set_device(DeviceIndex) {}
inline void device_synchronize() { (void)hipDeviceSynchronize(); }

}  // namespace hip

namespace cuda {
using CUDAStream = hip::HIPStream;
using hip::current_device;
using hip::device_count;
using hip::device_synchronize;
using hip::getStreamFromPool;
using hip::set_device;
inline CUDAStream getCurrentCUDAStream(DeviceIndex = -1) { return hip::getCurrentHIPStream(); }
inline CUDAStream getDefaultCUDAStream(DeviceIndex = -1) { return hip::getDefaultHIPStream(); }
inline void setCurrentCUDAStream(CUDAStream stream) { hip::setCurrentHIPStream(stream); }
}  // namespace cuda

}  // namespace c10
