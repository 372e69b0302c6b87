// c10::irange: the integers of a half-open range, for range-based loops. Text of our own.
#pragma once
#include <type_traits>

namespace c10 {

template <class T>
struct IntegerRange {
    struct Iterator {
        T value;
        T operator*() const { return value; }
        Iterator& operator++() { return ++value, *this; }
        bool operator!=(const Iterator& other) const { return value != other.value; }
    };
    T first, last;
    Iterator begin() const { return {first}; }
    Iterator end() const { return {last < first ? first : last}; }
};

template <class A, class B>
IntegerRange<B> irange(A first, B last) {
    return {static_cast<B>(first), last};
}
template <class T>
IntegerRange<T> irange(T last) {
    return {T(0), last};
}

}  // namespace c10
