// c10::SmallVector: a vector, wherever its elements lie. Text of our own.
#pragma once
#include <c10/util/ArrayRef.h>

#include <vector>

namespace c10 {
template <class T, unsigned N = 4>
class SmallVector : public std::vector<T> {
 public:
    using std::vector<T>::vector;
};
}  // namespace c10
