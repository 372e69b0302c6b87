// The functions that a torch extension exports, and the arguments of their next call.
#pragma once
#include <c10/util/Exception.h>
#include <kernelvault/registry.h>

#include <string>
#include <vector>

namespace kernelvault {

// Filled in by recorder_argument_*.
std::vector<Value>& arguments();
bool is_defined(const std::string& name);
struct Misfit : c10::Error {
    using c10::Error::Error;
};
// The overloads are tried in the order of their definition; throws Misfit where none fits, and what the function throws.
Value call(const std::string& name, const std::vector<Value>& given);

}  // namespace kernelvault
