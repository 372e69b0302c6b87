// The trace: what the host code asked for, written to a memory file as it happens, so that it survives any end of the
// process. The parent reads it in recording_trace.py and trusts none of it.
//
// Layout, little-endian: u32 magic "KVTR", u32 version, u64 bytes used; then records: u32 kind, u32 payload bytes, payload.
// A payload is a sequence of u64 and of strings (u64 length, bytes). Steps of a call, from Free to Convert, begin with their
// stream.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace recorder {

enum class Kind : uint32_t {
    Buffer = 1,
    Free = 2,
    Launch = 3,
    Copy = 4,
    Fill = 5,
    Upload = 6,
    Download = 7,
    Convert = 8,
    Result = 9,
    Call = 10,
    Returned = 11,
    End = 12,
    Property = 13,
    Limitation = 14,
    Foreign = 15,
    Touch = 16,
    Thrown = 17,
    LaunchFailed = 18,
    OtherResult = 19,
    MissingFunction = 20,
    Overflow = 21,
    Order = 22,
    StreamApart = 23,
    ErrorSeen = 24,  // host code was told of the failures so far
};

enum class Role : uint64_t { Scratch = 0, Input = 1, Output = 2, Pinned = 3, Variable = 4 };

// What orders steps that are on several streams.
enum class Order : uint64_t {
    EventMarks = 0,   // event, stream
    StreamWaits = 1,  // stream, event
    HostWaits = 2,    // for a stream
    HostAwaits = 3,   // an event
    HostWaitsForAll = 4,
};
// Records it where there is more than the default stream.
void order(Order what, const void* first = nullptr, const void* second = nullptr);
// There is a stream, which may be `apart`: it and the default stream do not wait for each other.
void stream_made(const void* stream, bool apart);

// The stream of the steps that this thread records until the scope ends; else it is the default stream.
class OnStream {
 public:
    explicit OnStream(const void* stream);
    OnStream(const OnStream&) = delete;
    OnStream& operator=(const OnStream&) = delete;
    ~OnStream();

 private:
    uint64_t before_;
};

// Maps the trace; ends the process if it cannot.
void open_trace(int descriptor, size_t bytes);

// One record: filled in, then written at once when it goes out of scope.
class Record {
 public:
    explicit Record(Kind kind);
    Record(const Record&) = delete;
    Record& operator=(const Record&) = delete;
    ~Record();
    Record& number(uint64_t value);
    Record& numbers(const std::vector<int64_t>& values);  // count first
    Record& text(std::string_view value);
    // Writes it as the last of all and ends the process.
    [[noreturn]] void finish(int exit_code);

 private:
    std::string bytes_;
};

// Only what a signal handler may do: one record of one number.
void write_from_handler(Kind kind, uint64_t first, uint64_t second);

}  // namespace recorder
