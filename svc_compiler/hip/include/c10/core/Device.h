// c10::Device and DeviceType. On ROCm the GPU is called CUDA, as libtorch does. Text of our own.
#pragma once
#include <cstdint>
#include <ostream>
#include <string>

namespace c10 {

enum class DeviceType : int8_t { CPU = 0, CUDA = 1, HIP = 6, Meta = 14 };
using DeviceIndex = int8_t;

inline constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA, kHIP = DeviceType::HIP,
                            kMeta = DeviceType::Meta;

struct Device {
    Device(DeviceType type, DeviceIndex index = -1) : type_(type == DeviceType::HIP ? DeviceType::CUDA : type), index_(index) {}
    Device(const std::string& name);  // "cpu", "cuda", "cuda:0"
    Device(const char* name) : Device(std::string(name)) {}

    DeviceType type() const { return type_; }
    DeviceIndex index() const { return index_; }
    bool has_index() const { return index_ != -1; }
    bool is_cuda() const { return type_ == DeviceType::CUDA; }
    bool is_hip() const { return false; }
    bool is_cpu() const { return type_ == DeviceType::CPU; }
    bool is_meta() const { return type_ == DeviceType::Meta; }
    std::string str() const;
    friend bool operator==(const Device& a, const Device& b) { return a.type_ == b.type_ && a.index_ == b.index_; }
    friend bool operator!=(const Device& a, const Device& b) { return !(a == b); }
    friend std::ostream& operator<<(std::ostream& out, const Device& device) { return out << device.str(); }

 private:
    DeviceType type_;
    DeviceIndex index_;
};

std::ostream& operator<<(std::ostream& out, DeviceType type);

}  // namespace c10
