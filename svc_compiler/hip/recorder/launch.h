// Kernels and module variables that the loaded code registered.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace recorder {

struct Slot {
    uint64_t offset;
    uint64_t size;
};
// Where a kernel's arguments lie in its argument segment, from its code object.
void set_layout(const std::string& kernel, std::vector<Slot> slots);

struct Variable {
    std::string symbol;
    size_t bytes;
    void* address;  // null until someone asks
};
// By the address of its host shadow; null if there is none.
Variable* find_variable(const void* shadow);
void* variable_address(Variable& variable);

}  // namespace recorder
