#include "downloads.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <mutex>

#include "trace.h"

namespace recorder {
namespace {

constexpr int kExitUnanswered = 79;

struct Answers {
    const char* data = nullptr;
    size_t bytes = 0;
    size_t position = 0;
    std::mutex mutex;
};
Answers& answers() {
    static auto* made = new Answers;
    return *made;
}

// The next answer, or null if it is not there or of another size.
const char* next(Answers& a, size_t bytes) {
    uint64_t held;
    if (a.bytes - a.position < sizeof held) return nullptr;
    memcpy(&held, a.data + a.position, sizeof held);
    if (held != bytes || a.bytes - a.position - sizeof held < held) return nullptr;
    const char* answer = a.data + a.position + sizeof held;
    a.position += sizeof held + held;
    return answer;
}

}  // namespace

void open_answers(int descriptor, size_t bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED) {
        perror("recorder: failed to map the answers");
        _exit(70);
    }
    answers().data = static_cast<const char*>(memory);
    answers().bytes = bytes;
}

void rewind_answers() { answers().position = 0; }

const char* download(const Source& from, size_t bytes, const char* what) {
    Answers& a = answers();
    const std::lock_guard guard(a.mutex);
    const char* answer = next(a, bytes);
    Record record(Kind::Download);
    record.number(reinterpret_cast<uint64_t>(from.address)).text(from.dtype).numbers(from.dims).numbers(from.strides);
    record.number(static_cast<uint64_t>(from.offset)).text(what).number(answer != nullptr);
    if (!answer) record.finish(kExitUnanswered);
    return answer;
}

}  // namespace recorder
