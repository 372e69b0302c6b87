// What <ATen/ATen.h> brings: tensors, functions, dispatch. Text of our own.
#pragma once
#include <ATen/Dispatch.h>
#include <ATen/Functions.h>
#include <ATen/TensorIndexing.h>
#include <c10/util/Exception.h>
#include <c10/util/SmallVector.h>
#include <c10/util/irange.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>

#define LEGACY_CONTIGUOUS_MEMORY_FORMAT ::c10::MemoryFormat::Contiguous

namespace c10 {
struct InferenceMode {
    explicit InferenceMode(bool = true) {}
};
}  // namespace c10

namespace at {
using c10::DeviceType;
using c10::irange;
using c10::kBFloat16;
using c10::kBool;
using c10::kByte;
using c10::kChar;
using c10::kCPU;
using c10::kCUDA;
using c10::kDouble;
using c10::kFloat;
using c10::kHalf;
using c10::kHIP;
using c10::kInt;
using c10::kLong;
using c10::kShort;
using c10::toString;
using c10::typeMetaToScalarType;
using std::optional;

struct NoGradGuard {
    NoGradGuard() {}
};
struct AutoGradMode {
    explicit AutoGradMode(bool) {}
};
struct AutoDispatchBelowADInplaceOrView {
    AutoDispatchBelowADInplaceOrView() {}
};
}  // namespace at
