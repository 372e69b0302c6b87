// Guards of the current device and stream: there is one device, and streams are serialised. Text of our own.
#pragma once
#include <ATen/core/Tensor.h>
#include <c10/hip/HIPStream.h>

#include <optional>

namespace c10 {

struct DeviceGuard {
    explicit DeviceGuard(Device) {}
};
struct OptionalDeviceGuard {
    OptionalDeviceGuard() {}
    explicit OptionalDeviceGuard(std::optional<Device>) {}
    void reset_device(Device) {}
};

namespace hip {

struct HIPGuard {
    explicit HIPGuard(DeviceIndex) {}
    explicit HIPGuard(Device) {}
    void set_device(Device) {}
    void set_index(DeviceIndex) {}
    void reset_device(Device) {}
};
struct OptionalHIPGuard {
    OptionalHIPGuard() {}
    explicit OptionalHIPGuard(std::optional<Device>) {}
    explicit OptionalHIPGuard(DeviceIndex) {}
    void set_device(Device) {}
    void set_index(DeviceIndex) {}
};
class HIPStreamGuard {
 public:
    explicit HIPStreamGuard(HIPStream stream) : before_(getCurrentHIPStream()) { setCurrentHIPStream(stream); }
    HIPStreamGuard(const HIPStreamGuard&) = delete;
    HIPStreamGuard& operator=(const HIPStreamGuard&) = delete;
    ~HIPStreamGuard() { setCurrentHIPStream(before_); }

 private:
    HIPStream before_;
};
using HIPGuardMasqueradingAsCUDA = HIPGuard;
using OptionalHIPGuardMasqueradingAsCUDA = OptionalHIPGuard;
using HIPStreamGuardMasqueradingAsCUDA = HIPStreamGuard;

}  // namespace hip

namespace cuda {
using CUDAGuard = hip::HIPGuard;
using OptionalCUDAGuard = hip::OptionalHIPGuard;
using CUDAStreamGuard = hip::HIPStreamGuard;
}  // namespace cuda

}  // namespace c10

namespace at {
using c10::DeviceGuard;
using c10::OptionalDeviceGuard;
inline std::optional<c10::Device> device_of(const Tensor& tensor) {
    return tensor.defined() ? std::optional<c10::Device>(tensor.device()) : std::nullopt;
}
}  // namespace at
