// Zeroed memory that costs nothing until it is touched.
#pragma once

#include <cstddef>
#include <sys/mman.h>

namespace kv {

template <class T>
T* pages(size_t count) {
    return static_cast<T*>(
        mmap(nullptr, count * sizeof(T) + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
}

}  // namespace kv
