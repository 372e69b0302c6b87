// Atomics of kernels: those that -fsanitize=thread turns into calls, and those that unpack.py does (floats, minimum and
// maximum, wrapping counters), for which it has none. One thread runs at a time, so that plain accesses are atomic.
#include <cstdint>
#include <cstring>

#include "amdgcn.h"
#include "scheduler.h"
#include "shadow.h"

namespace kv {
void touch_atomic(const void* address, uint32_t size, bool write, bool ordered, uintptr_t code);
}

namespace {

constexpr int kRelease = 3;  // of the C memory orders; stronger ones follow

template <class T, class Update>
[[gnu::always_inline]] inline T update(T* address, int order, uintptr_t code, Update next) {
    kv::touch_atomic(address, sizeof(T), true, order >= kRelease, code);
    T old = *address;
    *address = next(old);
    return old;
}

__kv_i16x2 bf16_sum(__kv_i16x2 a, __kv_i16x2 b) {
    return __builtin_bit_cast(__kv_i16x2, __builtin_bit_cast(__kv_bf16x2, a) + __builtin_bit_cast(__kv_bf16x2, b));
}

}  // namespace

#define KV_RMW(bits, T, name, expression)                                             \
    T __tsan_atomic##bits##_##name(T* p, T v, int order) {                            \
        return update(p, order, KV_SITE, [=](T old) { return T(expression); });       \
    }
#define KV_EXCHANGE(bits, T)                                                                              \
    T __tsan_atomic##bits##_load(const T* p, int) {                                                       \
        kv::touch_atomic(p, sizeof(T), false, false, KV_SITE);                                            \
        return *p;                                                                                        \
    }                                                                                                     \
    void __tsan_atomic##bits##_store(T* p, T v, int order) {                                              \
        kv::touch_atomic(p, sizeof(T), true, order >= kRelease, KV_SITE);                                 \
        *p = v;                                                                                           \
    }                                                                                                     \
    T __tsan_atomic##bits##_compare_exchange_val(T* p, T expected, T v, int order, int) {                 \
        return update(p, order, KV_SITE, [=](T old) { return old == expected ? v : old; });               \
    }                                                                                                     \
    int __tsan_atomic##bits##_compare_exchange_strong(T* p, T* expected, T v, int order, int) {           \
        T wanted = *expected;                                                                             \
        *expected = update(p, order, KV_SITE, [=](T old) { return old == wanted ? v : old; });            \
        return *expected == wanted;                                                                       \
    }                                                                                                     \
    int __tsan_atomic##bits##_compare_exchange_weak(T* p, T* expected, T v, int order, int) {             \
        T wanted = *expected;                                                                             \
        *expected = update(p, order, KV_SITE, [=](T old) { return old == wanted ? v : old; });            \
        return *expected == wanted;                                                                       \
    }
#define KV_ATOMICS(bits, T)                        \
    KV_EXCHANGE(bits, T)                           \
    KV_RMW(bits, T, exchange, ((void)old, v))      \
    KV_RMW(bits, T, fetch_add, old + v)            \
    KV_RMW(bits, T, fetch_sub, old - v)            \
    KV_RMW(bits, T, fetch_and, old & v)            \
    KV_RMW(bits, T, fetch_or, old | v)             \
    KV_RMW(bits, T, fetch_xor, old ^ v)            \
    KV_RMW(bits, T, fetch_nand, ~(old & v))

// Named as unpack.py names them: the operation of the atomicrmw and its type.
#define KV_MORE(name, T, expression)                                                   \
    T kvd_atomic_##name(T* p, T v) {                                                   \
        return update(p, 0, KV_SITE, [=](T old) { return T(expression); });            \
    }
#define KV_INTEGERS(S, U, suffix)                                     \
    KV_MORE(max_##suffix, S, old > v ? old : v)                       \
    KV_MORE(min_##suffix, S, old < v ? old : v)                       \
    KV_MORE(umax_##suffix, U, old > v ? old : v)                      \
    KV_MORE(umin_##suffix, U, old < v ? old : v)                      \
    KV_MORE(uinc_wrap_##suffix, U, old >= v ? 0 : old + 1)            \
    KV_MORE(udec_wrap_##suffix, U, old == 0 || old > v ? v : old - 1) \
    KV_MORE(usub_cond_##suffix, U, old >= v ? old - v : old)          \
    KV_MORE(usub_sat_##suffix, U, old >= v ? old - v : 0)
// A NaN gives way, as in fmin and fmax.
#define KV_FLOATS(T, suffix)                                    \
    KV_MORE(fadd_##suffix, T, old + v)                          \
    KV_MORE(fsub_##suffix, T, old - v)                          \
    KV_MORE(fmax_##suffix, T, old > v || v != v ? old : v)      \
    KV_MORE(fmin_##suffix, T, old < v || v != v ? old : v)

extern "C" {
KV_ATOMICS(8, uint8_t)
KV_ATOMICS(16, uint16_t)
KV_ATOMICS(32, uint32_t)
KV_ATOMICS(64, uint64_t)
KV_INTEGERS(int32_t, uint32_t, i32)
KV_INTEGERS(int64_t, uint64_t, i64)
KV_FLOATS(float, float)
KV_FLOATS(double, double)
KV_FLOATS(_Float16, half)
KV_FLOATS(__bf16, bfloat)
KV_MORE(fadd_v2half, __kv_f16x2, old + v)
KV_MORE(fadd_v2bfloat, __kv_bf16x2, old + v)

void __tsan_atomic_thread_fence(int order) {
    if (order >= kRelease) kv::note_fence();
}
void __tsan_atomic_signal_fence(int) {}

unsigned __builtin_amdgcn_atomic_inc32(volatile unsigned* p, unsigned v, unsigned, const char*) {
    return update(const_cast<unsigned*>(p), 0, KV_SITE, [=](unsigned old) { return old >= v ? 0 : old + 1; });
}
unsigned __builtin_amdgcn_atomic_dec32(volatile unsigned* p, unsigned v, unsigned, const char*) {
    return update(const_cast<unsigned*>(p), 0, KV_SITE, [=](unsigned old) { return old == 0 || old > v ? v : old - 1; });
}
unsigned long __builtin_amdgcn_atomic_inc64(volatile unsigned long* p, unsigned long v, unsigned, const char*) {
    return update(const_cast<unsigned long*>(p), 0, KV_SITE, [=](unsigned long old) { return old >= v ? 0 : old + 1; });
}
unsigned long __builtin_amdgcn_atomic_dec64(volatile unsigned long* p, unsigned long v, unsigned, const char*) {
    return update(const_cast<unsigned long*>(p), 0, KV_SITE,
                  [=](unsigned long old) { return old == 0 || old > v ? v : old - 1; });
}

#define KV_FLOAT_BUILTIN(name, T, expression) \
    T __builtin_amdgcn_##name(T* p, T v) { return update(p, 0, KV_SITE, [=](T old) { return T(expression); }); }
void __ockl_atomic_add_noret_f32(float* p, float v) {
    update(p, 0, KV_SITE, [=](float old) { return old + v; });
}
#define KV_FADD(space)                                         \
    KV_FLOAT_BUILTIN(space##_atomic_fadd_f32, float, old + v)  \
    KV_FLOAT_BUILTIN(space##_atomic_fadd_f64, double, old + v) \
    KV_FLOAT_BUILTIN(space##_atomic_fadd_v2f16, __kv_f16x2, old + v) \
    KV_FLOAT_BUILTIN(space##_atomic_fadd_v2bf16, __kv_i16x2, bf16_sum(old, v))
KV_FADD(flat)
KV_FADD(global)
KV_FADD(ds)
KV_FLOAT_BUILTIN(flat_atomic_fmin_f64, double, old < v ? old : v)
KV_FLOAT_BUILTIN(flat_atomic_fmax_f64, double, old > v ? old : v)
KV_FLOAT_BUILTIN(global_atomic_fmin_f64, double, old < v ? old : v)
KV_FLOAT_BUILTIN(global_atomic_fmax_f64, double, old > v ? old : v)
#define KV_DS_BUILTIN(name, expression)                                                                \
    float __builtin_amdgcn_##name(float* p, float v, int, int, bool) {                                  \
        return update(p, 0, KV_SITE, [=](float old) { return expression; });                            \
    }
KV_DS_BUILTIN(ds_faddf, old + v)
KV_DS_BUILTIN(ds_fminf, old < v || v != v ? old : v)
KV_DS_BUILTIN(ds_fmaxf, old > v || v != v ? old : v)
}
