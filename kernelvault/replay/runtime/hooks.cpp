// What -fsanitize=thread calls for every access of a kernel. Each hook runs before its access.
#include <cstring>

#include "amdgcn.h"
#include "counters.h"
#include "scheduler.h"
#include "shadow.h"

namespace kv {
namespace {

// Polls of one thread after which it gives way, so that another can write what it waits for.
constexpr uint32_t kPatience = 64;

template <bool kWrite, Mode mode, uint32_t kNatural>
[[gnu::always_inline]] inline void touch(const void* address, uint32_t size, uintptr_t code) {
    settle();
    Access access{address, size, kWrite, code};
    bool global = arena.has(address);
    if (global || lds.has(address)) {
        current->worked = true;
        // A vector of 16 bytes needs 8: see unpack.py.
        constexpr uint32_t kAlignment = kNatural > 8 ? 8 : kNatural;
        if (kNatural > 1 && __builtin_expect(reinterpret_cast<uintptr_t>(address) % kAlignment, 0)) misaligned(access);
        size_t offset = global ? arena.offset(address) : lds.offset(address);
        if (__builtin_expect(counting, 0) && mode != Mode::kAtomic)
            count_access(global ? Space::kGlobal : Space::kStaticLds, offset, size, kWrite, code);
        if (global) return check_region<kWrite, mode>(arena, offset, size, since_launch(), access);
        if (kWrite) note_lds_write(offset);
        return check_region<kWrite, mode>(lds, offset, size, since_block(), access);
    }
    elsewhere(access, mode);
}

// Code that relies on the lockstep of a wave says `volatile`: in LDS each such access is a step of the whole wave. In
// global memory and in variables it is a flag that another block or wave sets.
template <bool kWrite>
void touch_volatile(const void* address, uint32_t size, uintptr_t code) {
    bool shared = lds.has(address), global = arena.has(address) || variables.has(address);
    if (!kWrite && (shared || global) && ++current->polls > kPatience) give_way();
    if (shared) wait_for_wave(nullptr, nullptr);
    else if (global) kWrite ? note_release(false) : note_acquire();
    if (shared || global) kWrite ? note_wave_release(false) : note_wave_acquire();
    touch<kWrite, Mode::kVolatile, 1>(address, size, code);
}

void copy(void* to, const void* from, size_t size, uintptr_t code) {
    if (!size) return;
    touch<false, Mode::kCopy, 1>(from, uint32_t(size), code);
    touch<true, Mode::kCopy, 1>(to, uint32_t(size), code);
    if (!counting) copy_initialised(to, from, size);
}

}  // namespace

void touch_atomic(const void* address, uint32_t size, bool write, bool ordered, uintptr_t code) {
    if (counting && arena.has(address)) count_atomic(Space::kGlobal, arena.offset(address), code);
    else if (counting && lds.has(address)) count_atomic(Space::kStaticLds, lds.offset(address), code);
    if (++current->polls > kPatience) give_way();
    note_acquire();
    note_wave_acquire();
    if (write) note_release(ordered), note_wave_release(ordered);
    if (reinterpret_cast<uintptr_t>(address) % size) misaligned({address, size, write, code});
    if (write) touch<true, Mode::kAtomic, 1>(address, size, code);
    else touch<false, Mode::kAtomic, 1>(address, size, code);
}

}  // namespace kv

using kv::Mode;

#define KV_HOOKS(size)                                                                                              \
    void __tsan_read##size(const void* p) { kv::touch<false, Mode::kPlain, size>(p, size, KV_SITE); }               \
    void __tsan_write##size(const void* p) { kv::touch<true, Mode::kPlain, size>(p, size, KV_SITE); }               \
    void __tsan_unaligned_read##size(const void* p) { kv::touch<false, Mode::kPlain, 1>(p, size, KV_SITE); }        \
    void __tsan_unaligned_write##size(const void* p) { kv::touch<true, Mode::kPlain, 1>(p, size, KV_SITE); }        \
    void __tsan_volatile_read##size(const void* p) { kv::touch_volatile<false>(p, size, KV_SITE); }                 \
    void __tsan_volatile_write##size(const void* p) { kv::touch_volatile<true>(p, size, KV_SITE); }                 \
    void __tsan_unaligned_volatile_read##size(const void* p) { kv::touch_volatile<false>(p, size, KV_SITE); }       \
    void __tsan_unaligned_volatile_write##size(const void* p) { kv::touch_volatile<true>(p, size, KV_SITE); }

extern "C" {
KV_HOOKS(1)
KV_HOOKS(2)
KV_HOOKS(4)
KV_HOOKS(8)
KV_HOOKS(16)

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_read(void** p) { kv::touch<false, Mode::kPlain, 8>(p, 8, KV_SITE); }
void __tsan_vptr_update(void** p, void*) { kv::touch<true, Mode::kPlain, 8>(p, 8, KV_SITE); }

// Copies of structs read padding, which nobody wrote.
void* __tsan_memcpy(void* to, const void* from, size_t size) {
    kv::copy(to, from, size, KV_SITE);
    return memcpy(to, from, size);
}
void* __tsan_memmove(void* to, const void* from, size_t size) {
    kv::copy(to, from, size, KV_SITE);
    return memmove(to, from, size);
}
void* __tsan_memset(void* to, int value, size_t size) {
    if (size) kv::touch<true, Mode::kPlain, 1>(to, uint32_t(size), KV_SITE);
    return memset(to, value, size);
}

void __builtin_amdgcn_global_load_lds(void* from, void* base, unsigned size, int offset, unsigned) {
    char* to = static_cast<char*>(base) + offset + kv::lane() * size;
    kv::touch<false, Mode::kPlain, 1>(from, size, KV_SITE);
    kv::touch<true, Mode::kPlain, 1>(to, size, KV_SITE);
    memcpy(to, from, size);
}
}
