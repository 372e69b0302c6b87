#include "trace.h"

#include <hip/hip_runtime_api.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>

namespace recorder {
namespace {

constexpr uint32_t kMagic = 0x5254564B;  // "KVTR"
constexpr uint32_t kVersion = 3;
constexpr size_t kHeaderBytes = 16, kRecordBytes = 8;
// What an Overflow or a Touch needs, kept free to the end.
constexpr size_t kReserveBytes = 64;
// A little less than what the reader takes.
constexpr size_t kMaxRecords = 20'000;
constexpr int kExitOverflow = 74;

unsigned char* g_memory = nullptr;
size_t g_bytes = 0;
size_t g_used = 0;
size_t g_records = 0;
std::atomic<bool> g_several_streams{false};
thread_local uint64_t t_stream = 0;

std::mutex& lock() {
    static auto* mutex = new std::mutex;
    return *mutex;
}

// The legacy stream is the default one.
uint64_t stream_number(const void* stream) {
    return stream == hipStreamLegacy ? 0 : reinterpret_cast<uint64_t>(stream);
}

void append(Kind kind, const void* payload, size_t size) {
    const uint32_t head[2] = {static_cast<uint32_t>(kind), static_cast<uint32_t>(size)};
    unsigned char* at = g_memory + kHeaderBytes + g_used;
    memcpy(at, head, sizeof head);
    if (size) memcpy(at + kRecordBytes, payload, size);
    g_used += kRecordBytes + size;
    const uint64_t used = g_used;
    std::atomic_thread_fence(std::memory_order_release);
    memcpy(g_memory + 8, &used, sizeof used);
}

// The caller holds the lock.
void write(Kind kind, const std::string& payload) {
    if (++g_records > kMaxRecords || kHeaderBytes + g_used + kRecordBytes + payload.size() + kReserveBytes > g_bytes) {
        append(Kind::Overflow, nullptr, 0);
        _exit(kExitOverflow);
    }
    append(kind, payload.data(), payload.size());
}

}  // namespace

void open_trace(int descriptor, size_t bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED || bytes < kHeaderBytes + 2 * kReserveBytes) {
        perror("recorder: failed to map the trace");
        _exit(70);
    }
    g_memory = static_cast<unsigned char*>(memory);
    g_bytes = bytes;
    const uint32_t head[2] = {kMagic, kVersion};
    memcpy(g_memory, head, sizeof head);
}

void order(Order what, const void* first, const void* second) {
    if (!g_several_streams) return;
    Record(Kind::Order).number(static_cast<uint64_t>(what)).number(stream_number(first)).number(stream_number(second));
}

void stream_made(const void* stream, bool apart) {
    g_several_streams = true;
    if (apart) Record(Kind::StreamApart).number(stream_number(stream));
}

OnStream::OnStream(const void* stream) : before_(t_stream) { t_stream = stream_number(stream); }
OnStream::~OnStream() { t_stream = before_; }

Record::Record(Kind kind) : bytes_(sizeof(Kind), '\0') {
    memcpy(bytes_.data(), &kind, sizeof kind);
    if (kind >= Kind::Free && kind <= Kind::Convert) number(t_stream);
}

Record::~Record() {
    const std::lock_guard guard(lock());
    Kind kind;
    memcpy(&kind, bytes_.data(), sizeof kind);
    write(kind, bytes_.substr(sizeof kind));
}

void Record::finish(int exit_code) {
    const std::lock_guard guard(lock());  // no other thread writes after it
    Kind kind;
    memcpy(&kind, bytes_.data(), sizeof kind);
    write(kind, bytes_.substr(sizeof kind));
    _exit(exit_code);
}

Record& Record::number(uint64_t value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
}

Record& Record::numbers(const std::vector<int64_t>& values) {
    number(values.size());
    for (const int64_t value : values) number(static_cast<uint64_t>(value));
    return *this;
}

Record& Record::text(std::string_view value) {
    number(value.size());
    bytes_.append(value);
    return *this;
}

void write_from_handler(Kind kind, uint64_t first, uint64_t second) {
    const uint64_t payload[2] = {first, second};
    if (g_memory) append(kind, payload, sizeof payload);
}

}  // namespace recorder
