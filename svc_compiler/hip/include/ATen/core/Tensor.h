// at::Tensor: sizes, strides and dtype of a piece of device memory that host code cannot touch. Allocation, views, fills
// and copies become operations of the launch plan; all other computations are foreign operators. Text of our own;
// libtorch's names. The members without a body are in the recorder.
#pragma once
#include <ATen/core/TensorAccessor.h>
#include <c10/core/Scalar.h>
#include <c10/core/TensorOptions.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/Optional.h>
#include <kernelvault/any.h>

#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace kernelvault {
struct TensorImpl;  // in the recorder
}

namespace at {

using c10::Device;
using c10::DeviceIndex;
using c10::DeviceType;
using c10::Layout;
using c10::MemoryFormat;
using c10::ScalarType;
using c10::TensorOptions;

class Tensor;
struct TensorIndex;  // in ATen/TensorIndexing.h
using TensorList = ArrayRef<Tensor>;
using Tensors2 = std::tuple<Tensor, Tensor>;
using Tensors3 = std::tuple<Tensor, Tensor, Tensor>;
using TensorVector = std::vector<Tensor>;

// What the deprecated Tensor::type() returns.
struct DeprecatedTypeProperties {
    ScalarType type;
    bool cuda;
    bool is_cuda() const { return cuda; }
    ScalarType scalarType() const { return type; }
    operator ScalarType() const { return type; }
    friend bool operator==(const DeprecatedTypeProperties& a, const DeprecatedTypeProperties& b) {
        return a.type == b.type && a.cuda == b.cuda;
    }
};

class Tensor {
 public:
    Tensor() = default;
    explicit Tensor(std::shared_ptr<kernelvault::TensorImpl> impl) : impl_(std::move(impl)) {}
    const std::shared_ptr<kernelvault::TensorImpl>& impl() const { return impl_; }

    // Description.
    bool defined() const { return static_cast<bool>(impl_); }
    void reset() { impl_.reset(); }
    bool is_same(const Tensor& other) const { return impl_ == other.impl_; }
    int64_t dim() const;
    int64_t ndimension() const { return dim(); }
    IntArrayRef sizes() const;
    IntArrayRef strides() const;
    int64_t size(int64_t dimension) const;
    int64_t stride(int64_t dimension) const;
    int64_t numel() const;
    int64_t storage_offset() const;
    size_t element_size() const { return c10::elementSize(scalar_type()); }
    size_t itemsize() const { return element_size(); }
    size_t nbytes() const { return static_cast<size_t>(numel()) * element_size(); }
    ScalarType scalar_type() const;
    caffe2::TypeMeta dtype() const { return scalar_type(); }
    Device device() const;
    int64_t get_device() const { return is_cuda() ? 0 : -1; }
    DeprecatedTypeProperties type() const { return {scalar_type(), is_cuda()}; }
    TensorOptions options() const { return TensorOptions(scalar_type()).device(device()); }
    Layout layout() const { return Layout::Strided; }
    bool is_cuda() const { return device().is_cuda(); }
    bool is_hip() const { return false; }
    bool is_cpu() const { return device().is_cpu(); }
    bool is_sparse() const { return false; }
    bool is_quantized() const { return false; }
    bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;
    bool is_same_size(const Tensor& other) const { return sizes() == other.sizes(); }
    bool is_non_overlapping_and_dense() const;
    bool is_floating_point() const { return c10::isFloatingType(scalar_type()); }
    bool is_complex() const { return false; }
    bool is_signed() const { return scalar_type() != ScalarType::Byte && scalar_type() != ScalarType::Bool; }
    bool is_alias_of(const Tensor& other) const;
    MemoryFormat suggest_memory_format() const;
    bool requires_grad() const { return false; }
    Tensor& requires_grad_(bool = true) { return *this; }
    const Tensor& set_requires_grad(bool) const { return *this; }
    bool is_leaf() const { return true; }
    std::string toString() const;
    size_t use_count() const { return static_cast<size_t>(impl_.use_count()); }

    // Addresses. The typed ones throw if T is not the dtype, as libtorch's do.
    void* data_ptr() const;
    const void* const_data_ptr() const { return data_ptr(); }
    void* mutable_data_ptr() const { return data_ptr(); }
    template <class T>
    T* data_ptr() const {
        return static_cast<T*>(typed_pointer(c10::CppTypeToScalarType<std::remove_const_t<T>>::value));
    }
    template <class T>
    const T* const_data_ptr() const {
        return data_ptr<std::remove_const_t<T>>();
    }
    template <class T>
    T* mutable_data_ptr() const {
        return data_ptr<T>();
    }
    template <class T>
    T* data() const {
        return data_ptr<T>();
    }
    template <class T, size_t N>
    TensorAccessor<T, N> accessor() const {
        check_dimensions(N);
        return {data_ptr<T>(), sizes().data(), strides().data()};
    }
    template <class T, size_t N, template <class U> class Traits = DefaultPtrTraits, class index_t = int64_t>
    GenericPackedTensorAccessor<T, N, Traits, index_t> generic_packed_accessor() const {
        check_dimensions(N);
        return {data_ptr<T>(), sizes().data(), strides().data()};
    }
    template <class T, size_t N, template <class U> class Traits = DefaultPtrTraits>
    PackedTensorAccessor32<T, N, Traits> packed_accessor32() const {
        return generic_packed_accessor<T, N, Traits, int32_t>();
    }
    template <class T, size_t N, template <class U> class Traits = DefaultPtrTraits>
    PackedTensorAccessor64<T, N, Traits> packed_accessor64() const {
        return generic_packed_accessor<T, N, Traits, int64_t>();
    }
    template <class T, size_t N, template <class U> class Traits = DefaultPtrTraits, class index_t = int64_t>
    GenericPackedTensorAccessor<T, N, Traits, index_t> packed_accessor() const {
        return generic_packed_accessor<T, N, Traits, index_t>();
    }

    // Views.
    Tensor view(IntArrayRef size) const;
    Tensor view(ScalarType type) const;
    Tensor view_as(const Tensor& other) const { return view(other.sizes()); }
    Tensor reshape(IntArrayRef size) const;
    Tensor reshape_as(const Tensor& other) const { return reshape(other.sizes()); }
    Tensor flatten(int64_t start = 0, int64_t end = -1) const;
    Tensor ravel() const { return flatten(); }
    Tensor unflatten(int64_t dimension, IntArrayRef sizes) const;
    Tensor squeeze() const;
    Tensor squeeze(int64_t dimension) const;
    Tensor unsqueeze(int64_t dimension) const;
    Tensor transpose(int64_t a, int64_t b) const;
    Tensor swapaxes(int64_t a, int64_t b) const { return transpose(a, b); }
    Tensor swapdims(int64_t a, int64_t b) const { return transpose(a, b); }
    Tensor t() const;
    Tensor mT() const { return transpose(-2, -1); }
    Tensor permute(IntArrayRef order) const;
    Tensor movedim(int64_t from, int64_t to) const;
    Tensor narrow(int64_t dimension, int64_t start, int64_t length) const;
    Tensor slice(int64_t dimension = 0, std::optional<int64_t> start = std::nullopt,
                 std::optional<int64_t> end = std::nullopt, int64_t step = 1) const;
    Tensor select(int64_t dimension, int64_t index) const;
    Tensor operator[](int64_t index) const { return select(0, index); }
    Tensor expand(IntArrayRef size, bool implicit = false) const;
    Tensor expand_as(const Tensor& other) const { return expand(other.sizes()); }
    Tensor broadcast_to(IntArrayRef size) const { return expand(size); }
    Tensor as_strided(IntArrayRef size, IntArrayRef stride, std::optional<int64_t> offset = std::nullopt) const;
    Tensor index(ArrayRef<TensorIndex> indices) const;
    Tensor index(std::initializer_list<TensorIndex> indices) const;
    std::vector<Tensor> chunk(int64_t chunks, int64_t dimension = 0) const;
    std::vector<Tensor> split(int64_t size, int64_t dimension = 0) const;
    std::vector<Tensor> split(IntArrayRef sizes, int64_t dimension = 0) const;
    std::vector<Tensor> split_with_sizes(IntArrayRef sizes, int64_t dimension = 0) const { return split(sizes, dimension); }
    std::vector<Tensor> unbind(int64_t dimension = 0) const;
    Tensor detach() const { return alias(); }
    Tensor alias() const;

    // Copies and fills.
    Tensor contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;
    Tensor clone(std::optional<MemoryFormat> format = std::nullopt) const;
    Tensor to(ScalarType type, bool non_blocking = false, bool copy = false,
              std::optional<MemoryFormat> format = std::nullopt) const;
    Tensor to(Device device, bool non_blocking = false, bool copy = false) const;
    Tensor to(DeviceType device, bool non_blocking = false, bool copy = false) const { return to(Device(device), non_blocking, copy); }
    Tensor to(Device device, ScalarType type, bool non_blocking = false, bool copy = false) const;
    Tensor to(const TensorOptions& options, bool non_blocking = false, bool copy = false) const;
    Tensor to(const Tensor& other, bool non_blocking = false, bool copy = false) const;
    Tensor to(caffe2::TypeMeta type, bool non_blocking = false, bool copy = false) const {
        return to(type.toScalarType(), non_blocking, copy);
    }
    Tensor toType(ScalarType type) const { return to(type); }
    Tensor type_as(const Tensor& other) const { return to(other.scalar_type()); }
    Tensor cpu() const { return to(Device(DeviceType::CPU)); }
    Tensor cuda() const { return to(Device(DeviceType::CUDA, 0)); }
    Tensor hip() const { return cuda(); }
    Tensor pin_memory() const { return *this; }
    Tensor& copy_(const Tensor& source, bool non_blocking = false) const;
    Tensor& fill_(const c10::Scalar& value) const;
    Tensor& zero_() const { return fill_(0); }

    // New tensors.
    Tensor new_empty(IntArrayRef size, const TensorOptions& options = {}) const;
    Tensor new_zeros(IntArrayRef size, const TensorOptions& options = {}) const;
    Tensor new_ones(IntArrayRef size, const TensorOptions& options = {}) const;
    Tensor new_full(IntArrayRef size, const c10::Scalar& value, const TensorOptions& options = {}) const;

    // Values: of device memory they are poison, and the plan becomes data-dependent.
    c10::Scalar item() const;
    template <class T>
    T item() const {
        return item().to<T>();
    }

#define KERNELVAULT_OPERATOR(result, name) \
    result name(KERNELVAULT_ARGUMENTS) const { ::kernelvault::foreign_operator(#name); }
#include <kernelvault/foreign_methods.inc>
#undef KERNELVAULT_OPERATOR
#define KERNELVAULT_REDUCTION(name)                                                                       \
    Tensor name() const { ::kernelvault::foreign_operator(#name); }                                       \
    Tensor name(const Tensor&) const { ::kernelvault::foreign_operator(#name); }                          \
    Tensors2 name(int64_t, bool = false) const { ::kernelvault::foreign_operator(#name); }
    KERNELVAULT_REDUCTION(max)
    KERNELVAULT_REDUCTION(min)
    KERNELVAULT_REDUCTION(median)
#undef KERNELVAULT_REDUCTION
#define KERNELVAULT_ASSIGNMENT(op, name) \
    Tensor& operator op(const ::kernelvault::Any&) { ::kernelvault::foreign_operator(name); }
    KERNELVAULT_ASSIGNMENT(+=, "add_")
    KERNELVAULT_ASSIGNMENT(-=, "sub_")
    KERNELVAULT_ASSIGNMENT(*=, "mul_")
    KERNELVAULT_ASSIGNMENT(/=, "div_")
#undef KERNELVAULT_ASSIGNMENT

 private:
    void* typed_pointer(ScalarType type) const;
    void check_dimensions(size_t count) const;

    std::shared_ptr<kernelvault::TensorImpl> impl_;
};

using TensorBase = Tensor;

std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace at

namespace c10 {
template <class T>
using MaybeOwned = T;
}
