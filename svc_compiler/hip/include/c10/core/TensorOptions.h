// c10::TensorOptions: dtype, device and layout of a tensor to be made. Text of our own.
#pragma once
#include <c10/core/Device.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>

#include <optional>
#include <utility>

namespace c10 {

struct TensorOptions {
    TensorOptions() = default;
    TensorOptions(ScalarType type) : type_(type) {}
    TensorOptions(caffe2::TypeMeta type) : type_(type.toScalarType()) {}
    TensorOptions(Device device) : device_(device) {}
    TensorOptions(DeviceType device) : device_(device) {}
    TensorOptions(MemoryFormat format) : format_(format) {}
    TensorOptions(Layout) {}

    TensorOptions dtype(std::optional<ScalarType> type) const { return with(&TensorOptions::type_, type); }
    TensorOptions dtype(caffe2::TypeMeta type) const { return dtype(type.toScalarType()); }
    TensorOptions dtype(ScalarType type) const { return dtype(std::optional<ScalarType>(type)); }
    template <class T>
    TensorOptions dtype() const {
        return dtype(CppTypeToScalarType<T>::value);
    }
    TensorOptions device(std::optional<Device> device) const { return with(&TensorOptions::device_, device); }
    template <class... Arguments>  // of Device's constructors
    TensorOptions device(Arguments&&... arguments) const {
        return device(std::optional<Device>(std::in_place, std::forward<Arguments>(arguments)...));
    }
    TensorOptions device_index(DeviceIndex index) const { return device(Device(DeviceType::CUDA, index)); }
    TensorOptions memory_format(std::optional<MemoryFormat> format) const { return with(&TensorOptions::format_, format); }
    TensorOptions layout(std::optional<Layout>) const { return *this; }
    TensorOptions requires_grad(std::optional<bool>) const { return *this; }
    TensorOptions pinned_memory(std::optional<bool>) const { return *this; }

    caffe2::TypeMeta dtype() const { return type_.value_or(ScalarType::Float); }
    Device device() const { return device_.value_or(Device(DeviceType::CPU)); }
    Layout layout() const { return Layout::Strided; }
    bool requires_grad() const { return false; }
    bool has_dtype() const { return type_.has_value(); }
    bool has_device() const { return device_.has_value(); }
    std::optional<ScalarType> dtype_opt() const { return type_; }
    std::optional<Device> device_opt() const { return device_; }
    std::optional<MemoryFormat> memory_format_opt() const { return format_; }

 private:
    template <class T>
    TensorOptions with(std::optional<T> TensorOptions::* member, std::optional<T> value) const {
        TensorOptions changed = *this;
        changed.*member = value;
        return changed;
    }
    std::optional<ScalarType> type_;
    std::optional<Device> device_;
    std::optional<MemoryFormat> format_;
};

inline TensorOptions dtype(ScalarType type) { return TensorOptions(type); }
template <class T>
TensorOptions dtype() {
    return TensorOptions(CppTypeToScalarType<T>::value);
}
inline TensorOptions device(Device device) { return TensorOptions(device); }
inline TensorOptions layout(Layout layout) { return TensorOptions(layout); }
inline TensorOptions requires_grad(bool = true) { return TensorOptions(); }
inline TensorOptions memory_format(MemoryFormat format) { return TensorOptions(format); }

}  // namespace c10
