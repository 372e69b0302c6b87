// CUDA's name for HIP's __half. Text of our own.
#pragma once
#include <cuda_runtime.h>
#include <hip/hip_fp16.h>

using half = __half;
using half2 = __half2;
