// Parts of an at::Tensor: splits and indices.
#include <algorithm>

#include "tensor_impl.h"

namespace at {

Tensor Tensor::index(std::initializer_list<TensorIndex> indices) const {
    return index(ArrayRef<TensorIndex>(indices.begin(), indices.size()));
}

Tensor Tensor::index(ArrayRef<TensorIndex> indices) const {
    using Kind = TensorIndex::Kind;
    int64_t taken = 0;  // dimensions that the indices after an ellipsis speak of
    for (const TensorIndex& one : indices) taken += one.kind == Kind::Integer || one.kind == Kind::Slice;
    Tensor result = alias();
    int64_t at = 0;
    for (const TensorIndex& one : indices) {
        switch (one.kind) {
            case Kind::None: result = result.unsqueeze(at++); break;
            case Kind::Ellipsis: at += dim() - taken; break;
            case Kind::Integer: result = result.select(at, one.integer); break;
            case Kind::Slice: result = result.slice(at++, one.slice.start, one.slice.stop, one.slice.step.value_or(1)); break;
            case Kind::Foreign: kernelvault::foreign_operator("index");
        }
    }
    return result;
}

std::vector<Tensor> Tensor::split(int64_t size, int64_t dimension) const {
    TORCH_CHECK(size > 0, "split expects a positive size");
    std::vector<Tensor> parts;
    const int64_t total = this->size(dimension);
    for (int64_t at = 0; at < total; at += size) parts.push_back(narrow(dimension, at, std::min(size, total - at)));
    return parts.empty() ? std::vector<Tensor>{alias()} : parts;
}

std::vector<Tensor> Tensor::split(IntArrayRef sizes, int64_t dimension) const {
    std::vector<Tensor> parts;
    int64_t at = 0;
    for (const int64_t size : sizes) parts.push_back(narrow(dimension, at, size)), at += size;
    TORCH_CHECK(at == this->size(dimension), "split: ", sizes, " do not sum to ", this->size(dimension));
    return parts;
}

std::vector<Tensor> Tensor::chunk(int64_t chunks, int64_t dimension) const {
    TORCH_CHECK(chunks > 0, "chunk expects chunks > 0");
    return split(std::max<int64_t>(1, (size(dimension) + chunks - 1) / chunks), dimension);
}

std::vector<Tensor> Tensor::unbind(int64_t dimension) const {
    std::vector<Tensor> parts;
    for (int64_t i = 0; i < size(dimension); i++) parts.push_back(select(dimension, i));
    return parts;
}

}  // namespace at
