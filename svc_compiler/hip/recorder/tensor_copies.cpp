// Copies, conversions, fills and values of at::Tensor, and the functions that make tensors.
#include <c10/hip/HIPStream.h>

#include <algorithm>
#include <cstring>

#include "arena.h"
#include "copies.h"
#include "downloads.h"
#include "errors.h"
#include "tensor_impl.h"

namespace kernelvault {
namespace {

int64_t row_major_index(int64_t linear, const TensorImpl& tensor) {
    int64_t at = tensor.offset;
    for (size_t d = tensor.sizes.size(); d-- > 0; linear /= tensor.sizes[d]) at += linear % tensor.sizes[d] * tensor.strides[d];
    return at;
}

// Between tensors on the CPU, where nothing is converted.
void copy_on_host(const TensorImpl& to, const TensorImpl& from) {
    const int64_t width = static_cast<int64_t>(c10::elementSize(to.type));
    auto* out = static_cast<char*>(to.storage->address);
    const auto* in = static_cast<const char*>(from.storage->address);
    for (int64_t i = 0, n = to.numel(); i < n; i++)
        memcpy(out + row_major_index(i, to) * width, in + row_major_index(i, from) * width, static_cast<size_t>(width));
}

// The elements of a tensor on the device, in row-major order.
const char* downloaded(const TensorImpl& from, const char* what) {
    const size_t bytes = static_cast<size_t>(from.numel()) * c10::elementSize(from.type);
    const recorder::OnStream on(c10::hip::getCurrentHIPStream());
    return recorder::download({from.storage->address, python_name(from.type), from.sizes, from.strides, from.offset}, bytes, what);
}

at::Tensor contiguous_like(const TensorImpl& like, at::ScalarType type, bool cuda) {
    return make(like.sizes, contiguous_strides(like.sizes), type, cuda);
}

void copy_on_device(const TensorImpl& to, const TensorImpl& from) {
    const size_t bytes = static_cast<size_t>(to.numel()) * c10::elementSize(to.type);
    if (to.type == from.type && to.is_contiguous() && from.is_contiguous()) {
        (void)recorder::copy(to.data(), from.data(), bytes, "copy_");
        return;
    }
    recorder::Record record(recorder::Kind::Convert);
    add_view(record, from);
    add_view(record, to);
}

void copy_to_device(const TensorImpl& to, const TensorImpl& from) {
    const at::Tensor staged = contiguous_like(from, from.type, false);
    copy_on_host(get(staged), from);
    const bool direct = to.type == from.type && to.is_contiguous();
    const at::Tensor landed = direct ? view_of(to, to.sizes, to.strides, to.offset) : contiguous_like(from, from.type, true);
    recorder::upload(get(landed).data(), get(staged).data(), staged.nbytes());
    if (!direct) copy_on_device(to, get(landed));
}

void copy_to_host(const TensorImpl& to, const TensorImpl& from) {
    at::Tensor converted;  // on the device, as libtorch does
    if (to.type != from.type) {
        converted = contiguous_like(from, to.type, true);
        copy_on_device(get(converted), from);
    }
    const at::Tensor staged = contiguous_like(from, to.type, false);
    memcpy(get(staged).data(), downloaded(to.type == from.type ? from : get(converted), "a copy of a tensor to the CPU"), staged.nbytes());
    copy_on_host(to, get(staged));
}

}  // namespace

void copy_elements(const TensorImpl& to, const TensorImpl& from) {
    if (!to.numel()) return;
    const recorder::OnStream on(c10::hip::getCurrentHIPStream());
    if (to.storage->cuda) {
        from.storage->cuda ? copy_on_device(to, from) : copy_to_device(to, from);
    } else if (from.storage->cuda) {
        copy_to_host(to, from);
    } else {
        if (to.type != from.type) (void)recorder::unsupported("a conversion of a tensor on the CPU");
        else copy_on_host(to, from);
    }
}

}  // namespace kernelvault

namespace at {

using kernelvault::bytes_of;
using kernelvault::copy_elements;
using kernelvault::get;
using kernelvault::make;
using kernelvault::TensorImpl;

namespace {

std::vector<int64_t> strides_like(const TensorImpl& like, std::optional<MemoryFormat> format) {
    const MemoryFormat chosen = format.value_or(MemoryFormat::Preserve);
    return chosen == MemoryFormat::Preserve ? kernelvault::preserved_strides(like) : kernelvault::strides_of(like.sizes, chosen);
}

Tensor converted(const Tensor& self, ScalarType type, Device device, bool copy, std::optional<MemoryFormat> format) {
    const TensorImpl& from = get(self);
    if (!copy && type == from.type && device.is_cuda() == from.storage->cuda && !format) return self;
    Tensor result = make(from.sizes, strides_like(from, format), type, device.is_cuda());
    copy_elements(get(result), from);
    return result;
}

void fill(const TensorImpl& tensor, const c10::Scalar& value) {
    const std::string pattern = bytes_of(value, tensor.type);
    const size_t count = static_cast<size_t>(tensor.numel());
    const recorder::OnStream on(c10::hip::getCurrentHIPStream());
    if (count) (void)recorder::fill(tensor.data(), pattern.data(), pattern.size(), count);
}

ScalarType inferred(const c10::Scalar& value) {
    if (value.isFloatingPoint()) return ScalarType::Float;
    return value.isBoolean() ? ScalarType::Bool : ScalarType::Long;
}

}  // namespace

Tensor Tensor::contiguous(MemoryFormat format) const { return is_contiguous(format) ? *this : clone(format); }
Tensor Tensor::clone(std::optional<MemoryFormat> format) const {
    const TensorImpl& from = get(*this);
    Tensor result = make(from.sizes, strides_like(from, format), from.type, from.storage->cuda);
    copy_elements(get(result), from);
    return result;
}
Tensor Tensor::to(ScalarType type, bool, bool copy, std::optional<MemoryFormat> format) const {
    return converted(*this, type, device(), copy, format);
}
Tensor Tensor::to(Device device, bool, bool copy) const { return converted(*this, scalar_type(), device, copy, {}); }
Tensor Tensor::to(Device device, ScalarType type, bool, bool copy) const { return converted(*this, type, device, copy, {}); }
Tensor Tensor::to(const TensorOptions& options, bool, bool copy) const {
    return converted(*this, options.dtype_opt().value_or(scalar_type()), options.device_opt().value_or(device()), copy,
                     options.memory_format_opt());
}
Tensor Tensor::to(const Tensor& other, bool, bool copy) const {
    return converted(*this, other.scalar_type(), other.device(), copy, {});
}

Tensor& Tensor::copy_(const Tensor& source, bool) const {
    const Tensor fitting = source.sizes() == sizes() ? source : source.expand(sizes());
    copy_elements(get(*this), get(fitting));
    return const_cast<Tensor&>(*this);
}

Tensor& Tensor::fill_(const c10::Scalar& value) const {
    const TensorImpl& self = get(*this);
    if (is_non_overlapping_and_dense()) {
        fill(self, value);
    } else {  // a fill is of a range: another tensor is filled and spread
        const Tensor filled = make(self.sizes, kernelvault::contiguous_strides(self.sizes), self.type, self.storage->cuda);
        fill(get(filled), value);
        copy_elements(self, get(filled));
    }
    return const_cast<Tensor&>(*this);
}

c10::Scalar Tensor::item() const {
    const TensorImpl& self = get(*this);
    TORCH_CHECK(self.numel() == 1, "a Tensor with ", self.numel(), " elements cannot be converted to Scalar");
    char bytes[8] = {};
    if (self.storage->cuda)
        memcpy(bytes, kernelvault::downloaded(self, "Tensor::item"), element_size());
    else
        memcpy(bytes, self.data(), element_size());
    switch (self.type) {
#define KERNELVAULT_VALUE(cpp, name)          \
    case ScalarType::name: {                  \
        cpp value;                            \
        memcpy(&value, bytes, sizeof value);  \
        return value;                         \
    }
        KERNELVAULT_VALUE(float, Float)
        KERNELVAULT_VALUE(double, Double)
        KERNELVAULT_VALUE(c10::Half, Half)
        KERNELVAULT_VALUE(c10::BFloat16, BFloat16)
        KERNELVAULT_VALUE(int64_t, Long)
        KERNELVAULT_VALUE(int, Int)
        KERNELVAULT_VALUE(int16_t, Short)
        KERNELVAULT_VALUE(int8_t, Char)
        KERNELVAULT_VALUE(uint8_t, Byte)
#undef KERNELVAULT_VALUE
        case ScalarType::Bool: return (bytes[0] & 1) != 0;
        default: throw c10::Error(std::string("item() of ") + kernelvault::python_name(self.type) + " is not supported");
    }
}

Tensor empty(IntArrayRef size, const TensorOptions& options, std::optional<MemoryFormat> format) {
    const MemoryFormat chosen = format.value_or(options.memory_format_opt().value_or(MemoryFormat::Contiguous));
    return make(size.vec(), kernelvault::strides_of(size.vec(), chosen), options.dtype(), options.device().is_cuda());
}
Tensor empty_strided(IntArrayRef size, IntArrayRef stride, const TensorOptions& options) {
    TORCH_CHECK(size.size() == stride.size(), "empty_strided: ", size, " and ", stride, " differ in length");
    return make(size.vec(), stride.vec(), options.dtype(), options.device().is_cuda());
}
Tensor empty_like(const Tensor& like, const TensorOptions& options, std::optional<MemoryFormat> format) {
    const TensorImpl& from = get(like);
    const bool cuda = options.device_opt().value_or(like.device()).is_cuda();
    const auto chosen = format ? format : options.memory_format_opt();
    return make(from.sizes, strides_like(from, chosen), options.dtype_opt().value_or(from.type), cuda);
}
Tensor full(IntArrayRef size, const c10::Scalar& value, const TensorOptions& options) {
    Tensor result = empty(size, options.dtype(options.dtype_opt().value_or(inferred(value))));
    return result.fill_(value);
}
Tensor full_like(const Tensor& like, const c10::Scalar& value, const TensorOptions& options) {
    Tensor result = empty_like(like, options);
    return result.fill_(value);
}

namespace {
TensorOptions over(const Tensor& like, const TensorOptions& given) {
    return given.dtype(given.dtype_opt().value_or(like.scalar_type())).device(given.device_opt().value_or(like.device()));
}
}  // namespace
Tensor Tensor::new_empty(IntArrayRef size, const TensorOptions& options) const { return empty(size, over(*this, options)); }
Tensor Tensor::new_zeros(IntArrayRef size, const TensorOptions& options) const { return full(size, 0, over(*this, options)); }
Tensor Tensor::new_ones(IntArrayRef size, const TensorOptions& options) const { return full(size, 1, over(*this, options)); }
Tensor Tensor::new_full(IntArrayRef size, const c10::Scalar& value, const TensorOptions& options) const {
    return full(size, value, over(*this, options));
}

Tensor from_values(const void* values, size_t count, ScalarType type, const TensorOptions& options) {
    const auto size = static_cast<int64_t>(count);
    const Tensor exact = empty({size}, TensorOptions(type));
    if (count) memcpy(exact.data_ptr(), values, exact.nbytes());
    // torch::tensor makes float32 of doubles and int64 of ints.
    const ScalarType natural = type == ScalarType::Double ? ScalarType::Float : type == ScalarType::Int ? ScalarType::Long : type;
    const Tensor result = empty({size}, TensorOptions(options.dtype_opt().value_or(natural)));
    for (int64_t i = 0; i < size; i++) {
        const std::string bytes = bytes_of(exact.select(0, i).item(), result.scalar_type());
        memcpy(result.select(0, i).data_ptr(), bytes.data(), bytes.size());
    }
    return result.to(options.device());
}

Tensor from_blob(void* data, IntArrayRef size, const TensorOptions& options) {
    const bool cuda = recorder::owns(data);
    size_t count = 1;
    for (const int64_t d : size) count *= static_cast<size_t>(d);
    auto storage = std::make_shared<kernelvault::Storage>(data, count * c10::elementSize(options.dtype()), cuda);
    return Tensor(std::make_shared<TensorImpl>(
        TensorImpl{storage, size.vec(), kernelvault::contiguous_strides(size.vec()), 0, options.dtype()}));
}

}  // namespace at
