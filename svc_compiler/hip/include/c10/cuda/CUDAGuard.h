#pragma once
#include <c10/hip/HIPGuard.h>
