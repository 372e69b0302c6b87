#include "tensor_impl.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "arena.h"

namespace kernelvault {
namespace {

struct Dtype {
    at::ScalarType type;
    const char* python;
    const char* cpp;
    size_t bytes;
};
using T = at::ScalarType;
constexpr int64_t kMaxElements = int64_t{1} << 40;
constexpr Dtype kDtypes[] = {
    {T::Byte, "uint8", "Byte", 1},
    {T::Char, "int8", "Char", 1},
    {T::Short, "int16", "Short", 2},
    {T::Int, "int32", "Int", 4},
    {T::Long, "int64", "Long", 8},
    {T::Half, "float16", "Half", 2},
    {T::Float, "float32", "Float", 4},
    {T::Double, "float64", "Double", 8},
    {T::Bool, "bool", "Bool", 1},
    {T::BFloat16, "bfloat16", "BFloat16", 2},
    {T::Float8_e5m2, "float8_e5m2", "Float8_e5m2", 1},
    {T::Float8_e4m3fn, "float8_e4m3fn", "Float8_e4m3fn", 1},
    {T::Float8_e5m2fnuz, "float8_e5m2fnuz", "Float8_e5m2fnuz", 1},
    {T::Float8_e4m3fnuz, "float8_e4m3fnuz", "Float8_e4m3fnuz", 1},
    {T::UInt16, "uint16", "UInt16", 2},
    {T::UInt32, "uint32", "UInt32", 4},
    {T::UInt64, "uint64", "UInt64", 8},
};

const Dtype& describe(at::ScalarType type) {
    for (const Dtype& dtype : kDtypes)
        if (dtype.type == type) return dtype;
    throw c10::Error("a dtype that kernelvault does not know: " + std::to_string(static_cast<int>(type)));
}

template <class V>
std::string raw(V value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

}  // namespace

Storage::Storage(size_t bytes, bool cuda) : bytes(bytes), cuda(cuda) {
    address = cuda ? recorder::allocate(bytes, recorder::Role::Scratch, 0, "") : calloc(bytes ? bytes : 1, 1);
    if (!address && bytes) throw c10::Error("out of memory: tried to allocate " + std::to_string(bytes) + " bytes");
}

Storage::~Storage() {
    if (!owned) return;
    if (cuda)
        recorder::release(address);
    else
        free(address);
}

int64_t TensorImpl::numel() const {
    return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

bool TensorImpl::is_contiguous() const {
    if (!numel()) return true;
    int64_t expected = 1;
    for (size_t i = sizes.size(); i-- > 0; expected *= sizes[i])
        if (sizes[i] != 1 && strides[i] != expected) return false;
    return true;
}

char* TensorImpl::data() const {
    if (!storage->address) return nullptr;
    return static_cast<char*>(storage->address) + offset * static_cast<int64_t>(c10::elementSize(type));
}

const TensorImpl& get(const at::Tensor& tensor) {
    if (!tensor.defined()) throw c10::Error("an undefined tensor was used");
    return *tensor.impl();
}

at::Tensor view_of(const TensorImpl& base, std::vector<int64_t> sizes, std::vector<int64_t> strides, int64_t offset) {
    return at::Tensor(std::make_shared<TensorImpl>(
        TensorImpl{base.storage, std::move(sizes), std::move(strides), offset, base.type}));
}

at::Tensor make(std::vector<int64_t> sizes, std::vector<int64_t> strides, at::ScalarType type, bool cuda) {
    int64_t elements = 1;  // from the first to the last
    bool empty = false;
    for (size_t i = 0; i < sizes.size(); i++) {
        TORCH_CHECK(sizes[i] >= 0, "a tensor with negative dimension ", sizes[i], ": ", c10::IntArrayRef(sizes));
        int64_t reach = 0;
        empty |= sizes[i] == 0;
        TORCH_CHECK(empty || (!__builtin_mul_overflow(sizes[i] - 1, strides[i], &reach) &&
                              !__builtin_add_overflow(elements, reach, &elements) && elements < kMaxElements),
                    "a tensor that is too big: ", c10::IntArrayRef(sizes));
    }
    const size_t bytes = empty ? 0 : static_cast<size_t>(elements) * c10::elementSize(type);
    auto storage = std::make_shared<Storage>(bytes, cuda);
    return at::Tensor(std::make_shared<TensorImpl>(TensorImpl{storage, std::move(sizes), std::move(strides), 0, type}));
}

std::vector<int64_t> contiguous_strides(const std::vector<int64_t>& sizes) {
    std::vector<int64_t> strides(sizes.size(), 1);
    for (size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * std::max<int64_t>(sizes[i], 1);
    return strides;
}

std::vector<int64_t> strides_of(const std::vector<int64_t>& sizes, c10::MemoryFormat format) {
    if (format == c10::MemoryFormat::Contiguous || format == c10::MemoryFormat::Preserve) return contiguous_strides(sizes);
    const size_t rank = format == c10::MemoryFormat::ChannelsLast ? 4 : 5;
    TORCH_CHECK(sizes.size() == rank, "channels_last needs ", rank, " dimensions, the tensor has ", sizes.size());
    std::vector<int64_t> strides(rank);
    strides[1] = 1;
    int64_t step = sizes[1];
    for (size_t i = rank; i-- > 2; step *= sizes[i]) strides[i] = step;
    strides[0] = step;
    return strides;
}

std::vector<int64_t> preserved_strides(const TensorImpl& like) {
    std::vector<size_t> order(like.sizes.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return like.strides[a] > like.strides[b]; });
    std::vector<int64_t> strides(like.sizes.size(), 1);
    int64_t expected = 1;
    for (size_t i = order.size(); i-- > 0; expected *= like.sizes[order[i]]) {
        const size_t axis = order[i];
        if (like.sizes[axis] != 1 && like.strides[axis] != expected) return contiguous_strides(like.sizes);
        strides[axis] = expected;
    }
    return strides;
}

int64_t wrap(int64_t dimension, int64_t rank) {
    const int64_t count = std::max<int64_t>(rank, 1);
    TORCH_CHECK(dimension >= -count && dimension < count, "dimension ", dimension, " of a tensor with ", rank, " dimensions");
    return dimension < 0 ? dimension + count : dimension;
}

const char* python_name(at::ScalarType type) { return describe(type).python; }

at::ScalarType from_python_name(const std::string& name) {
    for (const Dtype& dtype : kDtypes)
        if (name == dtype.python) return dtype.type;
    throw c10::Error("a dtype that kernelvault does not know: " + name);
}

std::string bytes_of(const c10::Scalar& value, at::ScalarType type) {
    switch (type) {
#define KERNELVAULT_BYTES(cpp, name) \
    case at::ScalarType::name: return raw(value.to<cpp>());
        KERNELVAULT_SCALAR_TYPES(KERNELVAULT_BYTES)
#undef KERNELVAULT_BYTES
        default: throw c10::Error(std::string("fill_ of ") + describe(type).python + " is not supported");
    }
}

void add_view(recorder::Record& record, const TensorImpl& tensor) {
    record.number(reinterpret_cast<uint64_t>(tensor.storage->address)).text(python_name(tensor.type));
    record.numbers(tensor.sizes).numbers(tensor.strides).number(static_cast<uint64_t>(tensor.offset));
}

}  // namespace kernelvault

namespace c10 {

const char* toString(ScalarType type) { return kernelvault::describe(type).cpp; }
size_t elementSize(ScalarType type) { return kernelvault::describe(type).bytes; }
bool isFloatingType(ScalarType type) {
    return type == ScalarType::Half || type == ScalarType::Float || type == ScalarType::Double ||
           type == ScalarType::BFloat16 || (type >= ScalarType::Float8_e5m2 && type <= ScalarType::Float8_e4m3fnuz);
}
bool isIntegralType(ScalarType type, bool includeBool) {
    return type == ScalarType::Bool ? includeBool : !isFloatingType(type);
}
std::ostream& operator<<(std::ostream& out, ScalarType type) { return out << toString(type); }

std::ostream& operator<<(std::ostream& out, DeviceType type) { return out << (type == DeviceType::CPU ? "cpu" : "cuda"); }
Device::Device(const std::string& name) : type_(DeviceType::CUDA), index_(-1) {
    const size_t colon = name.find(':');
    const std::string kind = name.substr(0, colon);
    if (kind == "cpu")
        type_ = DeviceType::CPU;
    else if (kind != "cuda" && kind != "hip")
        throw Error("a device that kernelvault does not know: " + name);
    if (colon != std::string::npos) index_ = static_cast<DeviceIndex>(atoi(name.c_str() + colon + 1));
}
std::string Device::str() const {
    return std::string(is_cpu() ? "cpu" : "cuda") + (has_index() ? ":" + std::to_string(index_) : "");
}

}  // namespace c10
