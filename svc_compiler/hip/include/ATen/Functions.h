// Free functions of namespace at: those that make tensors or views, and the foreign operators. Text of our own.
#pragma once
#include <ATen/core/Tensor.h>

namespace at {

Tensor empty(IntArrayRef size, const TensorOptions& options = {}, std::optional<MemoryFormat> format = std::nullopt);
Tensor empty_strided(IntArrayRef size, IntArrayRef stride, const TensorOptions& options = {});
Tensor empty_like(const Tensor& like, const TensorOptions& options = {}, std::optional<MemoryFormat> format = std::nullopt);
Tensor full(IntArrayRef size, const c10::Scalar& value, const TensorOptions& options = {});
Tensor full_like(const Tensor& like, const c10::Scalar& value, const TensorOptions& options = {});
inline Tensor zeros(IntArrayRef size, const TensorOptions& options = {}) { return full(size, 0.0, options); }
inline Tensor ones(IntArrayRef size, const TensorOptions& options = {}) { return full(size, 1.0, options); }
inline Tensor zeros_like(const Tensor& like, const TensorOptions& options = {}) { return full_like(like, 0, options); }
inline Tensor ones_like(const Tensor& like, const TensorOptions& options = {}) { return full_like(like, 1, options); }
inline Tensor empty_like(const Tensor& like, MemoryFormat format) { return empty_like(like, TensorOptions(), format); }

// On the CPU, from values that host code computed.
Tensor from_values(const void* values, size_t count, ScalarType type, const TensorOptions& options);
Tensor from_blob(void* data, IntArrayRef size, const TensorOptions& options = {});
template <class T>
Tensor tensor(ArrayRef<T> values, const TensorOptions& options = {}) {
    return from_values(values.data(), values.size(), c10::CppTypeToScalarType<T>::value, options);
}
template <class T>
Tensor tensor(std::initializer_list<T> values, const TensorOptions& options = {}) {
    return tensor(ArrayRef<T>(values), options);
}
template <class T>
Tensor tensor(const std::vector<T>& values, const TensorOptions& options = {}) {
    return tensor(ArrayRef<T>(values), options);
}
inline Tensor scalar_tensor(const c10::Scalar& value, const TensorOptions& options = {}) {
    return full(IntArrayRef(), value, options);
}
template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
Tensor tensor(T value, const TensorOptions& options = {}) {
    return tensor(ArrayRef<T>(value), options).view(IntArrayRef());
}

inline Tensor reshape(const Tensor& self, IntArrayRef size) { return self.reshape(size); }
inline Tensor flatten(const Tensor& self, int64_t start = 0, int64_t end = -1) { return self.flatten(start, end); }
inline Tensor squeeze(const Tensor& self) { return self.squeeze(); }
inline Tensor squeeze(const Tensor& self, int64_t dimension) { return self.squeeze(dimension); }
inline Tensor unsqueeze(const Tensor& self, int64_t dimension) { return self.unsqueeze(dimension); }
inline Tensor transpose(const Tensor& self, int64_t a, int64_t b) { return self.transpose(a, b); }
inline Tensor t(const Tensor& self) { return self.t(); }
inline Tensor permute(const Tensor& self, IntArrayRef order) { return self.permute(order); }
inline Tensor narrow(const Tensor& self, int64_t dimension, int64_t start, int64_t length) {
    return self.narrow(dimension, start, length);
}
inline Tensor select(const Tensor& self, int64_t dimension, int64_t index) { return self.select(dimension, index); }
inline Tensor clone(const Tensor& self) { return self.clone(); }
inline std::vector<Tensor> chunk(const Tensor& self, int64_t chunks, int64_t dimension = 0) {
    return self.chunk(chunks, dimension);
}
inline std::vector<Tensor> split(const Tensor& self, int64_t size, int64_t dimension = 0) {
    return self.split(size, dimension);
}
inline std::vector<Tensor> unbind(const Tensor& self, int64_t dimension = 0) { return self.unbind(dimension); }
inline bool is_floating_point(const Tensor& self) { return self.is_floating_point(); }
inline int64_t numel(const Tensor& self) { return self.numel(); }
inline int64_t size(const Tensor& self, int64_t dimension) { return self.size(dimension); }

#define KERNELVAULT_OPERATOR(result, name) \
    inline result name(const ::kernelvault::Any&, KERNELVAULT_ARGUMENTS) { ::kernelvault::foreign_operator(#name); }
#include <kernelvault/foreign_functions.inc>
#undef KERNELVAULT_OPERATOR

// Of one tensor or of two a tensor; along a dimension values and indices.
#define KERNELVAULT_REDUCTION(name)                                                                              \
    inline Tensor name(const Tensor&) { ::kernelvault::foreign_operator(#name); }                                \
    inline Tensor name(const Tensor&, const Tensor&) { ::kernelvault::foreign_operator(#name); }                 \
    inline Tensors2 name(const Tensor&, int64_t, bool = false) { ::kernelvault::foreign_operator(#name); }
KERNELVAULT_REDUCTION(max)
KERNELVAULT_REDUCTION(min)
KERNELVAULT_REDUCTION(median)
#undef KERNELVAULT_REDUCTION

// Templates, so that nothing but a tensor matches.
#define KERNELVAULT_INFIX(op, name)                                                                              \
    template <class A, class B>                                                                                  \
    std::enable_if_t<std::is_same_v<A, Tensor> || std::is_same_v<B, Tensor>, Tensor> operator op(const A&, const B&) { \
        ::kernelvault::foreign_operator(name);                                                                   \
    }
KERNELVAULT_INFIX(+, "add")
KERNELVAULT_INFIX(-, "sub")
KERNELVAULT_INFIX(*, "mul")
KERNELVAULT_INFIX(/, "div")
KERNELVAULT_INFIX(%, "remainder")
KERNELVAULT_INFIX(<, "lt")
KERNELVAULT_INFIX(>, "gt")
KERNELVAULT_INFIX(<=, "le")
KERNELVAULT_INFIX(>=, "ge")
KERNELVAULT_INFIX(==, "eq")
KERNELVAULT_INFIX(!=, "ne")
KERNELVAULT_INFIX(&, "bitwise_and")
KERNELVAULT_INFIX(|, "bitwise_or")
#undef KERNELVAULT_INFIX
inline Tensor operator-(const Tensor&) { ::kernelvault::foreign_operator("neg"); }
inline Tensor operator~(const Tensor&) { ::kernelvault::foreign_operator("bitwise_not"); }

template <class T>
constexpr C10_HOST_DEVICE T ceil_div(T a, T b) {
    return (a + b - 1) / b;
}
template <class T>
constexpr C10_HOST_DEVICE T round_up(T a, T b) {
    return ceil_div(a, b) * b;
}

}  // namespace at
