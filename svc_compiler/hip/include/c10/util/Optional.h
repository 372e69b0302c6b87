// c10::optional is std::optional. Text of our own.
#pragma once
#include <optional>

namespace c10 {
using std::in_place;
using std::make_optional;
using std::nullopt;
using std::nullopt_t;
using std::optional;
}  // namespace c10
