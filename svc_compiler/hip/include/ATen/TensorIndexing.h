// torch::indexing: what Tensor::index takes. Integers, slices, None and Ellipsis make views; a tensor as an index is the
// foreign operator `index`. Text of our own; libtorch's names.
#pragma once
#include <ATen/core/Tensor.h>

namespace at::indexing {

struct EllipsisIndexType {};
inline constexpr EllipsisIndexType Ellipsis{};
using c10::nullopt;
inline constexpr std::nullopt_t None = std::nullopt;

struct Slice {
    Slice(std::optional<int64_t> start = std::nullopt, std::optional<int64_t> stop = std::nullopt,
          std::optional<int64_t> step = std::nullopt)
        : start(start), stop(stop), step(step) {}
    std::optional<int64_t> start, stop, step;
};

}  // namespace at::indexing

namespace at {

struct TensorIndex {
    enum class Kind { None, Ellipsis, Integer, Slice, Foreign } kind;
    int64_t integer = 0;
    indexing::Slice slice;

    TensorIndex(std::nullopt_t) : kind(Kind::None) {}
    TensorIndex(indexing::EllipsisIndexType) : kind(Kind::Ellipsis) {}
    TensorIndex(const char* text) : kind(text[0] == '.' ? Kind::Ellipsis : Kind::Foreign) {}
    template <class T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int> = 0>
    TensorIndex(T integer) : kind(Kind::Integer), integer(static_cast<int64_t>(integer)) {}
    template <class T, std::enable_if_t<std::is_same_v<T, bool>, int> = 0>
    TensorIndex(T) : kind(Kind::Foreign) {}
    TensorIndex(indexing::Slice slice) : kind(Kind::Slice), slice(slice) {}
    TensorIndex(const Tensor&) : kind(Kind::Foreign) {}
};

namespace indexing {
using at::TensorIndex;
}

}  // namespace at
