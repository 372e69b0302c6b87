// Accessors: a pointer with sizes and strides, for kernels and for host code. Text of our own; libtorch's names.
#pragma once
#include <c10/macros/Macros.h>
#include <c10/util/ArrayRef.h>

#include <cstddef>
#include <cstdint>

namespace at {

template <class T>
struct DefaultPtrTraits {
    using PtrType = T*;
};
template <class T>
struct RestrictPtrTraits {
    using PtrType = T* __restrict__;
};

template <class T, size_t N, template <class U> class Traits, class index_t>
class TensorAccessorBase {
 public:
    using PtrType = typename Traits<T>::PtrType;
    C10_HOST_DEVICE TensorAccessorBase(PtrType data, const index_t* sizes, const index_t* strides)
        : data_(data), sizes_(sizes), strides_(strides) {}
    C10_HOST IntArrayRef sizes() const { return IntArrayRef(sizes_, N); }
    C10_HOST IntArrayRef strides() const { return IntArrayRef(strides_, N); }
    C10_HOST_DEVICE index_t size(index_t dimension) const { return sizes_[dimension]; }
    C10_HOST_DEVICE index_t stride(index_t dimension) const { return strides_[dimension]; }
    C10_HOST_DEVICE PtrType data() { return data_; }
    C10_HOST_DEVICE const PtrType data() const { return data_; }

 protected:
    PtrType data_;
    const index_t* sizes_;
    const index_t* strides_;
};

template <class T, size_t N, template <class U> class Traits = DefaultPtrTraits, class index_t = int64_t>
class TensorAccessor : public TensorAccessorBase<T, N, Traits, index_t> {
 public:
    using TensorAccessorBase<T, N, Traits, index_t>::TensorAccessorBase;
    C10_HOST_DEVICE TensorAccessor<T, N - 1, Traits, index_t> operator[](index_t i) const {
        return {this->data_ + this->strides_[0] * i, this->sizes_ + 1, this->strides_ + 1};
    }
};

template <class T, template <class U> class Traits, class index_t>
class TensorAccessor<T, 1, Traits, index_t> : public TensorAccessorBase<T, 1, Traits, index_t> {
 public:
    using TensorAccessorBase<T, 1, Traits, index_t>::TensorAccessorBase;
    C10_HOST_DEVICE T& operator[](index_t i) const { return this->data_[this->strides_[0] * i]; }
};

// Carries its sizes and strides, so that it can be a kernel's argument.
template <class T, size_t N, template <class U> class Traits = DefaultPtrTraits, class index_t = int64_t>
class GenericPackedTensorAccessorBase {
 public:
    using PtrType = typename Traits<T>::PtrType;
    template <class From>
    C10_HOST GenericPackedTensorAccessorBase(PtrType data, const From* sizes, const From* strides) : data_(data) {
        for (size_t i = 0; i < N; i++) {
            sizes_[i] = static_cast<index_t>(sizes[i]);
            strides_[i] = static_cast<index_t>(strides[i]);
        }
    }
    C10_HOST_DEVICE index_t size(index_t dimension) const { return sizes_[dimension]; }
    C10_HOST_DEVICE index_t stride(index_t dimension) const { return strides_[dimension]; }
    C10_HOST_DEVICE PtrType data() { return data_; }
    C10_HOST_DEVICE const PtrType data() const { return data_; }

 protected:
    PtrType data_;
    index_t sizes_[N];
    index_t strides_[N];
};

template <class T, size_t N, template <class U> class Traits = DefaultPtrTraits, class index_t = int64_t>
class GenericPackedTensorAccessor : public GenericPackedTensorAccessorBase<T, N, Traits, index_t> {
 public:
    using GenericPackedTensorAccessorBase<T, N, Traits, index_t>::GenericPackedTensorAccessorBase;
    C10_HOST_DEVICE TensorAccessor<T, N - 1, Traits, index_t> operator[](index_t i) const {
        return {this->data_ + this->strides_[0] * i, this->sizes_ + 1, this->strides_ + 1};
    }
};

template <class T, template <class U> class Traits, class index_t>
class GenericPackedTensorAccessor<T, 1, Traits, index_t> : public GenericPackedTensorAccessorBase<T, 1, Traits, index_t> {
 public:
    using GenericPackedTensorAccessorBase<T, 1, Traits, index_t>::GenericPackedTensorAccessorBase;
    C10_HOST_DEVICE T& operator[](index_t i) const { return this->data_[this->strides_[0] * i]; }
};

template <class T, size_t N, template <class U> class Traits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, Traits, int32_t>;
template <class T, size_t N, template <class U> class Traits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, Traits, int64_t>;
template <class T, size_t N, template <class U> class Traits = DefaultPtrTraits, class index_t = int64_t>
using PackedTensorAccessor = GenericPackedTensorAccessor<T, N, Traits, index_t>;

}  // namespace at
