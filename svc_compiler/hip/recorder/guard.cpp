// Host code that touches device memory faults; the handler says so and ends the process. Linked with --wrap, so that a
// candidate's own handlers for these signals are not installed. One that installs them by other means only loses the
// clear message: the memory is nowhere either way.
#include "guard.h"

#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <string>
#include <typeinfo>

#include <cxxabi.h>

#include "arena.h"
#include "trace.h"

namespace recorder {
namespace {

constexpr int kExitTouched = 77, kExitThrown = 78;
constexpr size_t kStackBytes = 64 << 10;

void handle(int number, siginfo_t* info, void* context) {
    const bool wrote = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2;
    if (owns(info->si_addr)) {
        write_from_handler(Kind::Touch, reinterpret_cast<uint64_t>(info->si_addr), wrote);
        _exit(kExitTouched);
    }
    signal(number, SIG_DFL);  // returns to the fault, which then ends the process
}

// An exception that left a hip-abi launcher: its text is worth more than "killed by SIGABRT".
[[noreturn]] void ended_by_exception() {
    std::string text = "std::terminate was called";
    if (const std::type_info* type = abi::__cxa_current_exception_type()) {
        text = type->name();
        try {
            throw;
        } catch (const std::exception& error) {
            text = error.what();
        } catch (...) {
        }
    }
    Record(Kind::Thrown).text(text);
    _exit(kExitThrown);
}

bool ours(int number) { return number == SIGSEGV || number == SIGBUS; }

}  // namespace

void open_guard() {
    stack_t stack{};
    stack.ss_sp = malloc(kStackBytes);
    stack.ss_size = kStackBytes;
    sigaltstack(&stack, nullptr);
    struct sigaction action{};
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    action.sa_sigaction = handle;
    for (const int number : {SIGSEGV, SIGBUS}) sigaction(number, &action, nullptr);
    std::set_terminate(ended_by_exception);
}

}  // namespace recorder

extern "C" {

int __wrap_sigaction(int number, const struct sigaction* action, struct sigaction* before) {
    return recorder::ours(number) ? 0 : sigaction(number, action, before);
}
sighandler_t __wrap_signal(int number, sighandler_t handler) {
    return recorder::ours(number) ? SIG_DFL : signal(number, handler);
}

}  // extern "C"
