// Strided copies with a change of dtype: what `contiguous`, `copy_` and `to` do.
#include <cstdint>
#include <cstring>

#include "memory.h"
#include "shadow.h"
#include "narrow.h"

namespace {

// In the order of bundle.DTYPES.
enum Dtype : int { kF64, kF32, kF16, kBf16, kE4M3, kE5M2, kE4M3Fnuz, kE5M2Fnuz, kI64, kI32, kI16, kI8, kU8, kBool, kDtypes };
constexpr uint8_t kBytes[kDtypes] = {8, 4, 2, 2, 1, 1, 1, 1, 8, 4, 2, 1, 1, 1};
constexpr int kMostDims = 64;

bool is_integer(int dtype) { return dtype >= kI64; }

template <class T>
T load(const void* from) {
    T value;
    memcpy(&value, from, sizeof value);
    return value;
}

template <class T>
void store(void* to, T value) { memcpy(to, &value, sizeof value); }

int64_t load_integer(const void* from, int dtype) {
    switch (dtype) {
        case kI64: return load<int64_t>(from);
        case kI32: return load<int32_t>(from);
        case kI16: return load<int16_t>(from);
        case kI8: return load<int8_t>(from);
        case kU8: return load<uint8_t>(from);
        default: return load<uint8_t>(from) != 0;
    }
}

double load_number(const void* from, int dtype) {
    switch (dtype) {
        case kF64: return load<double>(from);
        case kF32: return double(load<float>(from));
        case kF16: return double(load<_Float16>(from));
        case kBf16: return double(kv::from_bf16(load<uint16_t>(from)));
        case kE4M3: return double(kv::Float8<3, false>::decode(load<uint8_t>(from)));
        case kE5M2: return double(kv::Float8<2, false>::decode(load<uint8_t>(from)));
        case kE4M3Fnuz: return double(kv::Float8<3, true>::decode(load<uint8_t>(from)));
        case kE5M2Fnuz: return double(kv::Float8<2, true>::decode(load<uint8_t>(from)));
        default: return double(load_integer(from, dtype));
    }
}

void store_integer(void* to, int dtype, int64_t value) {
    switch (dtype) {
        case kI64: return store(to, value);
        case kI32: return store(to, int32_t(value));
        case kI16: return store(to, int16_t(value));
        case kI8: return store(to, int8_t(value));
        case kU8: return store(to, uint8_t(value));
        default: return store(to, uint8_t(value != 0));
    }
}

// Half and narrower go through single precision, as torch does it.
void store_number(void* to, int dtype, double value) {
    float single = float(value);
    switch (dtype) {
        case kF64: return store(to, value);
        case kF32: return store(to, single);
        case kF16: return store(to, _Float16(single));
        case kBf16: return store(to, kv::to_bf16(single));
        case kE4M3: return store(to, kv::Float8<3, false>::encode(single, 0x7e));  // torch saturates this one
        case kE5M2: return store(to, kv::Float8<2, false>::encode(single));
        case kE4M3Fnuz: return store(to, kv::Float8<3, true>::encode(single));
        case kE5M2Fnuz: return store(to, kv::Float8<2, true>::encode(single));
        case kBool: return store(to, uint8_t(value != 0));
        default: return store_integer(to, dtype, value != value ? INT64_MIN : int64_t(value));
    }
}

struct Side {
    char* at;
    int dtype;
    const int64_t* strides;
};

void convert_one(const Side& to, const Side& from) {
    kv::touch_range(from.at, kBytes[from.dtype], false);
    kv::touch_range(to.at, kBytes[to.dtype], true);
    if (to.dtype == from.dtype) {
        memmove(to.at, from.at, kBytes[to.dtype]);
        kv::copy_initialised(to.at, from.at, kBytes[to.dtype]);
        return;
    }
    if (is_integer(to.dtype) && is_integer(from.dtype)) store_integer(to.at, to.dtype, load_integer(from.at, from.dtype));
    else store_number(to.at, to.dtype, load_number(from.at, from.dtype));
    kv::mark_initialised(to.at, kBytes[to.dtype]);
}

void convert_axis(Side to, Side from, const int64_t* dims, int rank, int axis) {
    if (axis == rank) return convert_one(to, from);
    int64_t to_step = to.strides[axis] * kBytes[to.dtype], from_step = from.strides[axis] * kBytes[from.dtype];
    if (axis == rank - 1 && to.dtype == from.dtype && to.strides[axis] == 1 && from.strides[axis] == 1) {
        size_t size = size_t(dims[axis]) * kBytes[to.dtype];
        kv::touch_range(from.at, size, false);
        kv::touch_range(to.at, size, true);
        memmove(to.at, from.at, size);
        return kv::copy_initialised(to.at, from.at, size);
    }
    for (int64_t i = 0; i < dims[axis]; i++, to.at += to_step, from.at += from_step) convert_axis(to, from, dims, rank, axis + 1);
}

}  // namespace

// Strides are in elements; the pointers are those of the first elements. The caller has checked the bounds.
extern "C" __attribute__((visibility("default"))) int kv_convert(void* to, int to_dtype, const int64_t* to_strides, const void* from,
                                                                 int from_dtype, const int64_t* from_strides, const int64_t* dims,
                                                                 int rank) {
    if (to_dtype < 0 || to_dtype >= kDtypes || from_dtype < 0 || from_dtype >= kDtypes || rank < 0 || rank > kMostDims) return 1;
    Side target{static_cast<char*>(to), to_dtype, to_strides};
    Side source{const_cast<char*>(static_cast<const char*>(from)), from_dtype, from_strides};
    convert_axis(target, source, dims, rank, 0);
    kv::settle();
    return 0;
}
