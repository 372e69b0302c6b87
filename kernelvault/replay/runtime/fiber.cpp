#include "fiber.h"

#include <cstdint>
#include <cstdlib>
#include <sys/mman.h>

#include "model.h"

// The switch is a plain call for the compiler: only the registers that a callee must keep are saved.
asm(R"(
.text
.hidden kv_switch
.globl kv_switch
.type kv_switch, @function
kv_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size kv_switch, .-kv_switch

.hidden kv_fiber_start
.globl kv_fiber_start
.type kv_fiber_start, @function
kv_fiber_start:
    xorl %ebp, %ebp
    call *%rbx
    ud2
.size kv_fiber_start, .-kv_fiber_start
)");

extern "C" void kv_fiber_start();

namespace kv {
namespace {

constexpr size_t kGuardBytes = 4096;
char* stacks;

}  // namespace

void make_stacks() {
    if (stacks) return;
    void* got = mmap(nullptr, kStackBytes * kMaxThreads, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got == MAP_FAILED) abort();
    stacks = static_cast<char*>(got);
}

void* new_stack(unsigned number, void (*entry)()) {
    static unsigned usable = 0;
    char* low = stacks + number * kStackBytes;
    if (number >= usable) {
        if (mprotect(low + kGuardBytes, kStackBytes - kGuardBytes, PROT_READ | PROT_WRITE)) abort();
        usable = number + 1;
    }
    // Stacks that all start at the same place of a page would compete for the same cache lines.
    char* top = low + kStackBytes - 64 - number % 32 * 192;
    void** slot = reinterpret_cast<void**>(reinterpret_cast<uintptr_t>(top) & ~uintptr_t{15});
    *--slot = nullptr;
    *--slot = nullptr;
    *--slot = reinterpret_cast<void*>(kv_fiber_start);  // where kv_switch returns to
    *--slot = nullptr;                                  // rbp
    *--slot = reinterpret_cast<void*>(entry);           // rbx
    for (int i = 0; i < 4; i++) *--slot = nullptr;      // r12 to r15
    return slot;
}

bool in_stacks(const void* address) {
    return static_cast<size_t>(static_cast<const char*>(address) - stacks) < kStackBytes * kMaxThreads;
}

}  // namespace kv
