// As cuda_runtime.h. Text of our own.
#pragma once
#include <cuda_runtime.h>
