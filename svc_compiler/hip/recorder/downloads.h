// Copies from the device. No kernel runs here: the bytes are answers that the caller took from a replay of all that was
// recorded before. The first copy without an answer ends the process; the caller then finds it and records again.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace recorder {

// Elements of device memory; strides and offset are in elements.
struct Source {
    const void* address;
    std::string_view dtype;
    std::vector<int64_t> dims, strides;
    int64_t offset;
};

// The answers in order: u64 bytes, then the bytes, without gaps; zeros follow. A descriptor of a sealed memory file.
void open_answers(int descriptor, size_t bytes);
// A new call of the candidate is given the same answers, after the first `taken` of them.
void rewind_answers(size_t taken = 0);
size_t answers_taken();
// Called before the process ends at a copy without an answer.
void set_farewell(void (*farewell)());
// The elements of `from` in row-major order, `bytes` in all; `what` names the call that asked for them.
const char* download(const Source& from, size_t bytes, const char* what);

}  // namespace recorder
