// at::Tensor's description and views.
#include <algorithm>

#include "tensor_impl.h"

namespace at {

using kernelvault::get;
using kernelvault::TensorImpl;
using kernelvault::view_of;
using kernelvault::wrap;

namespace {

using Sizes = std::vector<int64_t>;

// Replaces the one -1 by what is left.
Sizes resolved(IntArrayRef asked, int64_t numel) {
    Sizes sizes = asked.vec();
    int64_t known = 1;
    auto open = sizes.end();
    for (auto it = sizes.begin(); it != sizes.end(); ++it) {
        TORCH_CHECK(*it != -1 || open == sizes.end(), "only one dimension can be inferred: ", asked);
        if (*it == -1)
            open = it;
        else
            known *= *it;
    }
    if (open != sizes.end()) *open = known ? numel / known : 0;
    const int64_t count = open == sizes.end() ? known : known * *open;
    TORCH_CHECK(count == numel, "shape ", asked, " is invalid for input of size ", numel);
    return sizes;
}

// Strides of `sizes` over the same elements, or nothing where only a copy can do: dimensions that are contiguous with
// their neighbour form a block, and each block is cut anew.
std::optional<Sizes> view_strides(const TensorImpl& base, const Sizes& sizes) {
    if (!base.numel()) return kernelvault::contiguous_strides(sizes);
    Sizes strides(sizes.size(), 1);
    int64_t next = static_cast<int64_t>(sizes.size()) - 1, block = 1;
    int64_t step = base.dim() ? base.strides.back() : 1;
    for (int64_t d = base.dim() - 1; d >= 0; d--) {
        block *= base.sizes[d];
        const bool ends = d == 0 || (base.sizes[d - 1] != 1 && base.strides[d - 1] != block * step);
        if (!ends) continue;
        int64_t filled = 1;
        while (next >= 0 && (filled < block || sizes[next] == 1)) {
            strides[next] = filled * step;
            filled *= sizes[next--];
        }
        if (filled != block) return std::nullopt;
        if (d > 0) block = 1, step = base.strides[d - 1];
    }
    return strides;
}

}  // namespace

int64_t Tensor::dim() const { return get(*this).dim(); }
IntArrayRef Tensor::sizes() const { return get(*this).sizes; }
IntArrayRef Tensor::strides() const { return get(*this).strides; }
int64_t Tensor::size(int64_t d) const { return get(*this).sizes.at(wrap(d, dim())); }
int64_t Tensor::stride(int64_t d) const { return get(*this).strides.at(wrap(d, dim())); }
int64_t Tensor::numel() const { return get(*this).numel(); }
int64_t Tensor::storage_offset() const { return get(*this).offset; }
ScalarType Tensor::scalar_type() const { return get(*this).type; }
Device Tensor::device() const { return get(*this).storage->cuda ? Device(DeviceType::CUDA, 0) : Device(DeviceType::CPU); }
bool Tensor::is_alias_of(const Tensor& other) const { return get(*this).storage == get(other).storage; }

bool Tensor::is_contiguous(MemoryFormat format) const {
    const TensorImpl& self = get(*this);
    if (format == MemoryFormat::Contiguous || format == MemoryFormat::Preserve) return self.is_contiguous();
    const size_t rank = format == MemoryFormat::ChannelsLast ? 4 : 5;
    return self.sizes.size() == rank && self.strides == kernelvault::strides_of(self.sizes, format);
}

bool Tensor::is_non_overlapping_and_dense() const {
    const TensorImpl& self = get(*this);
    return self.is_contiguous() || self.strides == kernelvault::preserved_strides(self);
}

MemoryFormat Tensor::suggest_memory_format() const {
    if (!is_contiguous() && is_contiguous(MemoryFormat::ChannelsLast)) return MemoryFormat::ChannelsLast;
    if (!is_contiguous() && is_contiguous(MemoryFormat::ChannelsLast3d)) return MemoryFormat::ChannelsLast3d;
    return MemoryFormat::Contiguous;
}

std::string Tensor::toString() const { return std::string(is_cuda() ? "CUDA" : "CPU") + c10::toString(scalar_type()) + "Type"; }

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
    if (!tensor.defined()) return out << "[undefined tensor]";
    return out << "[tensor " << tensor.sizes() << ' ' << kernelvault::python_name(tensor.scalar_type()) << ' '
               << tensor.device() << ']';
}

void* Tensor::data_ptr() const { return get(*this).data(); }
void* Tensor::typed_pointer(ScalarType type) const {
    TORCH_CHECK(type == scalar_type(), "expected scalar type ", type, " but found ", scalar_type());
    return data_ptr();
}
void Tensor::check_dimensions(size_t count) const {
    TORCH_CHECK(static_cast<size_t>(dim()) == count, "expected ", count, " dims but tensor has ", dim());
}

Tensor Tensor::alias() const {
    const TensorImpl& self = get(*this);
    return view_of(self, self.sizes, self.strides, self.offset);
}

Tensor Tensor::view(IntArrayRef size) const {
    const TensorImpl& self = get(*this);
    Sizes sizes = resolved(size, self.numel());
    const auto strides = view_strides(self, sizes);
    TORCH_CHECK(strides, "view size is not compatible with the tensor's size and stride; use .reshape(...) instead");
    return view_of(self, std::move(sizes), *strides, self.offset);
}

Tensor Tensor::view(ScalarType type) const {
    TORCH_CHECK(c10::elementSize(type) == element_size(), "view(dtype) of another element size is not supported");
    Tensor result = alias();
    result.impl()->type = type;
    return result;
}

Tensor Tensor::reshape(IntArrayRef size) const {
    const TensorImpl& self = get(*this);
    const Sizes sizes = resolved(size, self.numel());
    return view_strides(self, sizes) ? view(sizes) : clone(MemoryFormat::Contiguous).view(sizes);
}

Tensor Tensor::flatten(int64_t start, int64_t end) const {
    if (!dim()) return reshape({1});
    start = wrap(start, dim()), end = wrap(end, dim());
    TORCH_CHECK(start <= end, "flatten() has invalid args: start_dim cannot come after end_dim");
    Sizes kept(sizes().begin(), sizes().begin() + start);
    int64_t merged = 1;
    for (int64_t d = start; d <= end; d++) merged *= size(d);
    kept.push_back(merged);
    kept.insert(kept.end(), sizes().begin() + end + 1, sizes().end());
    return reshape(kept);
}

Tensor Tensor::unflatten(int64_t dimension, IntArrayRef parts) const {
    dimension = wrap(dimension, dim());
    Sizes sizes = this->sizes().vec();
    const Sizes inner = resolved(parts, sizes[dimension]);
    sizes.erase(sizes.begin() + dimension);
    sizes.insert(sizes.begin() + dimension, inner.begin(), inner.end());
    return view(sizes);
}

Tensor Tensor::squeeze() const {
    Tensor result = *this;
    for (int64_t d = dim() - 1; d >= 0; d--) result = result.squeeze(d);
    return result;
}

Tensor Tensor::squeeze(int64_t dimension) const {
    const TensorImpl& self = get(*this);
    dimension = wrap(dimension, self.dim());
    Sizes sizes = self.sizes, strides = self.strides;
    if (self.dim() && sizes[dimension] == 1) {
        sizes.erase(sizes.begin() + dimension);
        strides.erase(strides.begin() + dimension);
    }
    return view_of(self, sizes, strides, self.offset);
}

Tensor Tensor::unsqueeze(int64_t dimension) const {
    const TensorImpl& self = get(*this);
    dimension = wrap(dimension, self.dim() + 1);
    Sizes sizes = self.sizes, strides = self.strides;
    const int64_t stride = dimension < self.dim() ? sizes[dimension] * strides[dimension] : 1;
    sizes.insert(sizes.begin() + dimension, 1);
    strides.insert(strides.begin() + dimension, stride);
    return view_of(self, sizes, strides, self.offset);
}

Tensor Tensor::transpose(int64_t a, int64_t b) const {
    const TensorImpl& self = get(*this);
    a = wrap(a, self.dim()), b = wrap(b, self.dim());
    Sizes sizes = self.sizes, strides = self.strides;
    if (self.dim()) std::swap(sizes[a], sizes[b]), std::swap(strides[a], strides[b]);
    return view_of(self, sizes, strides, self.offset);
}

Tensor Tensor::t() const {
    TORCH_CHECK(dim() <= 2, "t() expects a tensor with <= 2 dimensions, but self is ", dim(), "D");
    return dim() < 2 ? alias() : transpose(0, 1);
}

Tensor Tensor::permute(IntArrayRef order) const {
    const TensorImpl& self = get(*this);
    TORCH_CHECK(static_cast<int64_t>(order.size()) == self.dim(), "permute: ", order.size(), " dimensions for a tensor of ", self.dim());
    Sizes sizes, strides;
    std::vector<bool> seen(order.size());
    for (const int64_t asked : order) {
        const int64_t d = wrap(asked, self.dim());
        TORCH_CHECK(!seen[d], "permute: dimension ", d, " is repeated");
        seen[d] = true;
        sizes.push_back(self.sizes[d]), strides.push_back(self.strides[d]);
    }
    return view_of(self, sizes, strides, self.offset);
}

Tensor Tensor::movedim(int64_t from, int64_t to) const {
    from = wrap(from, dim()), to = wrap(to, dim());
    Sizes order;
    for (int64_t d = 0; d < dim(); d++)
        if (d != from) order.push_back(d);
    order.insert(order.begin() + to, from);
    return permute(order);
}

Tensor Tensor::narrow(int64_t dimension, int64_t start, int64_t length) const {
    const TensorImpl& self = get(*this);
    dimension = wrap(dimension, self.dim());
    const int64_t size = self.sizes.at(dimension);
    start = start < 0 ? start + size : start;
    TORCH_CHECK(start >= 0 && length >= 0 && start + length <= size, "narrow: start ", start, " and length ", length,
                " exceed dimension size ", size);
    Sizes sizes = self.sizes;
    sizes[dimension] = length;
    return view_of(self, sizes, self.strides, self.offset + start * self.strides[dimension]);
}

Tensor Tensor::slice(int64_t dimension, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) const {
    TORCH_CHECK(step > 0, "slice step must be positive");
    dimension = wrap(dimension, dim());
    const int64_t size = this->size(dimension);
    auto clamp = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size); };
    const int64_t first = clamp(start.value_or(0)), last = std::max(first, clamp(end.value_or(size)));
    const Tensor part = narrow(dimension, first, last - first);
    Sizes sizes = part.sizes().vec(), strides = part.strides().vec();
    sizes[dimension] = (last - first + step - 1) / step;
    strides[dimension] *= step;
    return view_of(get(part), sizes, strides, part.storage_offset());
}

Tensor Tensor::select(int64_t dimension, int64_t index) const {
    TORCH_CHECK(dim() > 0, "select() cannot be applied to a 0-dim tensor");
    dimension = wrap(dimension, dim());
    const int64_t size = this->size(dimension);
    TORCH_CHECK(index >= -size && index < size, "select(): index ", index, " out of range for dimension of size ", size);
    const Tensor part = narrow(dimension, index < 0 ? index + size : index, 1);
    return part.squeeze(dimension);
}

Tensor Tensor::expand(IntArrayRef size, bool) const {
    const TensorImpl& self = get(*this);
    const int64_t rank = static_cast<int64_t>(size.size()), added = rank - self.dim();
    TORCH_CHECK(added >= 0, "expand: ", size, " has fewer dimensions than the tensor ", sizes());
    Sizes sizes = size.vec(), strides(size.size(), 0);
    for (int64_t d = 0; d < rank; d++) {
        const int64_t have = d < added ? 1 : self.sizes[d - added];
        if (sizes[d] == -1) sizes[d] = have;
        TORCH_CHECK(sizes[d] == have || have == 1, "expand: ", size, " does not fit the tensor ", this->sizes());
        if (d >= added && sizes[d] == have) strides[d] = self.strides[d - added];
    }
    return view_of(self, sizes, strides, self.offset);
}

Tensor Tensor::as_strided(IntArrayRef size, IntArrayRef stride, std::optional<int64_t> offset) const {
    const TensorImpl& self = get(*this);
    TORCH_CHECK(size.size() == stride.size(), "as_strided: ", size, " and ", stride, " differ in length");
    int64_t last = offset.value_or(self.offset);
    for (size_t d = 0; d < size.size(); d++) last += std::max<int64_t>(size[d] - 1, 0) * stride[d];
    TORCH_CHECK(last >= 0 && static_cast<size_t>(last) < self.storage->bytes / element_size() + (self.numel() == 0),
                "as_strided: ", size, " with strides ", stride, " leaves the storage");
    return view_of(self, size.vec(), stride.vec(), offset.value_or(self.offset));
}

}  // namespace at
