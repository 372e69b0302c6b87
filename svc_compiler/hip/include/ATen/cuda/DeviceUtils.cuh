// Exchanges within a wave under libtorch's names. Text of our own.
#pragma once
#include <c10/macros/Macros.h>

#ifdef __HIPCC__
__device__ __forceinline__ unsigned long long WARP_BALLOT(int predicate) { return __ballot(predicate); }
template <class T>
__device__ __forceinline__ T WARP_SHFL_XOR(T value, int mask, int width = warpSize, unsigned = 0xffffffff) {
    return __shfl_xor(value, mask, width);
}
template <class T>
__device__ __forceinline__ T WARP_SHFL(T value, int lane, int width = warpSize, unsigned = 0xffffffff) {
    return __shfl(value, lane, width);
}
template <class T>
__device__ __forceinline__ T WARP_SHFL_UP(T value, unsigned delta, int width = warpSize, unsigned = 0xffffffff) {
    return __shfl_up(value, delta, width);
}
template <class T>
__device__ __forceinline__ T WARP_SHFL_DOWN(T value, unsigned delta, int width = warpSize, unsigned = 0xffffffff) {
    return __shfl_down(value, delta, width);
}
#endif
