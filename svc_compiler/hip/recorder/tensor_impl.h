// What an at::Tensor of the shadow headers refers to.
#pragma once
#include <ATen/ATen.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trace.h"

namespace kernelvault {

// Device memory, or host memory for tensors on the CPU. Frees what it allocated.
struct Storage {
    Storage(size_t bytes, bool cuda);
    Storage(void* given, size_t bytes, bool cuda) : address(given), bytes(bytes), cuda(cuda), owned(false) {}
    Storage(const Storage&) = delete;
    Storage& operator=(const Storage&) = delete;
    ~Storage();
    void* address;
    size_t bytes;
    bool cuda;
    bool owned = true;
};

struct TensorImpl {
    std::shared_ptr<Storage> storage;
    std::vector<int64_t> sizes;
    std::vector<int64_t> strides;  // in elements
    int64_t offset = 0;            // in elements
    at::ScalarType type = at::ScalarType::Float;

    int64_t dim() const { return static_cast<int64_t>(sizes.size()); }
    int64_t numel() const;
    bool is_contiguous() const;
    char* data() const;
};

using Ref = std::shared_ptr<TensorImpl>;

// The tensor's description; throws c10::Error for an undefined tensor.
const TensorImpl& get(const at::Tensor& tensor);
// Another view of the same storage.
at::Tensor view_of(const TensorImpl& base, std::vector<int64_t> sizes, std::vector<int64_t> strides, int64_t offset);
at::Tensor make(std::vector<int64_t> sizes, std::vector<int64_t> strides, at::ScalarType type, bool cuda);
std::vector<int64_t> contiguous_strides(const std::vector<int64_t>& sizes);
// Strides of a new tensor with the memory format, which is not Preserve; throws if the sizes have no such format.
std::vector<int64_t> strides_of(const std::vector<int64_t>& sizes, c10::MemoryFormat format);
// Like torch's empty_like: the order of the strides is kept where the tensor is dense.
std::vector<int64_t> preserved_strides(const TensorImpl& like);
// A dimension in [0, rank), from one that may count from the end.
int64_t wrap(int64_t dimension, int64_t rank);
// The dtype as torch's Python spells it: `float32`.
const char* python_name(at::ScalarType type);
// `value` in the dtype's bytes.
std::string bytes_of(const c10::Scalar& value, at::ScalarType type);
// Copies elements, converting them; both sides have the same sizes.
void copy_elements(const TensorImpl& to, const TensorImpl& from);
// Appends address, dtype, dims, strides, offset.
void add_view(recorder::Record& record, const TensorImpl& tensor);

}  // namespace kernelvault
