// c10::ArrayRef and IntArrayRef: a view of a sequence that someone else owns. Text of our own.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <type_traits>
#include <vector>

namespace c10 {

template <class T>
class ArrayRef {
 public:
    using value_type = T;
    using iterator = const T*;
    using const_iterator = const T*;

    constexpr ArrayRef() = default;
    constexpr ArrayRef(const T& one) : data_(&one), size_(1) {}
    constexpr ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
    constexpr ArrayRef(const T* begin, const T* end) : data_(begin), size_(static_cast<size_t>(end - begin)) {}
    ArrayRef(const std::vector<T>& items) : data_(items.data()), size_(items.size()) {}
    template <size_t N>
    constexpr ArrayRef(const std::array<T, N>& items) : data_(items.data()), size_(N) {}
    template <size_t N>
    constexpr ArrayRef(const T (&items)[N]) : data_(items), size_(N) {}
    constexpr ArrayRef(const std::initializer_list<T>& items) : data_(items.begin()), size_(items.size()) {}

    constexpr const T* begin() const { return data_; }
    constexpr const T* end() const { return data_ + size_; }
    constexpr const T* data() const { return data_; }
    constexpr size_t size() const { return size_; }
    constexpr bool empty() const { return size_ == 0; }
    constexpr const T& operator[](size_t index) const { return data_[index]; }
    const T& at(size_t index) const { return data_[index]; }
    constexpr const T& front() const { return data_[0]; }
    constexpr const T& back() const { return data_[size_ - 1]; }
    constexpr ArrayRef slice(size_t start, size_t count) const { return {data_ + start, count}; }
    constexpr ArrayRef slice(size_t start) const { return {data_ + start, size_ - start}; }
    std::vector<T> vec() const { return {begin(), end()}; }
    bool equals(ArrayRef other) const {
        if (size_ != other.size_) return false;
        for (size_t i = 0; i < size_; i++)
            if (!(data_[i] == other.data_[i])) return false;
        return true;
    }

 private:
    const T* data_ = nullptr;
    size_t size_ = 0;
};

template <class T>
bool operator==(ArrayRef<T> a, ArrayRef<T> b) {
    return a.equals(b);
}
template <class T>
bool operator!=(ArrayRef<T> a, ArrayRef<T> b) {
    return !a.equals(b);
}
template <class T>
bool operator==(const std::vector<T>& a, ArrayRef<T> b) {
    return ArrayRef<T>(a).equals(b);
}
template <class T>
bool operator==(ArrayRef<T> a, const std::vector<T>& b) {
    return a.equals(ArrayRef<T>(b));
}

template <class T>
std::ostream& operator<<(std::ostream& out, ArrayRef<T> items) {
    out << '[';
    for (size_t i = 0; i < items.size(); i++) out << (i ? ", " : "") << items[i];
    return out << ']';
}

using IntArrayRef = ArrayRef<int64_t>;

// An optional IntArrayRef that also takes a braced list.
class OptionalIntArrayRef : public std::optional<IntArrayRef> {
 public:
    using std::optional<IntArrayRef>::optional;
    OptionalIntArrayRef(std::initializer_list<int64_t> items) : std::optional<IntArrayRef>(IntArrayRef(items)) {}
    OptionalIntArrayRef(const std::vector<int64_t>& items) : std::optional<IntArrayRef>(IntArrayRef(items)) {}
};

}  // namespace c10

namespace at {
using c10::ArrayRef;
using c10::IntArrayRef;
using c10::OptionalIntArrayRef;
}  // namespace at
