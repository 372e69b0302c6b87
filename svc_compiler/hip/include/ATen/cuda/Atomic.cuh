// gpuAtomicAdd and its kin, also for the 16-bit types, by compare and swap of the word that holds them. Text of our own.
#pragma once
#include <c10/core/ScalarType.h>

#ifdef __HIPCC__
namespace kernelvault {
// Replaces the 16 bits at `address` by `change` of them; returns what was there.
template <class T, class F>
__device__ inline T atomic_change_16(T* address, F change) {
    auto* word = reinterpret_cast<unsigned int*>(reinterpret_cast<size_t>(address) & ~size_t{3});
    const int shift = (reinterpret_cast<size_t>(address) & 2) ? 16 : 0;
    unsigned int seen = *word, assumed;
    T before(0.0f);
    do {
        assumed = seen;
        before = T(static_cast<unsigned short>(assumed >> shift), c10::from_bits);
        const unsigned int bits = T(change(before)).x;
        seen = atomicCAS(word, assumed, (assumed & ~(0xFFFFu << shift)) | (bits << shift));
    } while (seen != assumed);
    return before;
}
}  // namespace kernelvault

__device__ inline c10::Half gpuAtomicAdd(c10::Half* address, c10::Half value) {
    return kernelvault::atomic_change_16(address, [=](c10::Half before) { return before + value; });
}
__device__ inline c10::BFloat16 gpuAtomicAdd(c10::BFloat16* address, c10::BFloat16 value) {
    return kernelvault::atomic_change_16(address, [=](c10::BFloat16 before) { return before + value; });
}
template <class T>
__device__ inline T gpuAtomicAdd(T* address, T value) {
    return atomicAdd(address, value);
}
template <class T>
__device__ inline void gpuAtomicAddNoReturn(T* address, T value) {
    gpuAtomicAdd(address, value);
}
#endif
