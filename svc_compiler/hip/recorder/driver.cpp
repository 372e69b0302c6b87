// What the recording process (record_child.py) calls through ctypes.
#include <cstring>
#include <string>

#include "arena.h"
#include "copies.h"
#include "device.h"
#include "downloads.h"
#include "guard.h"
#include "launch.h"
#include "tensor_impl.h"
#include "trace.h"

using recorder::Kind;
using recorder::Record;
using recorder::Role;

extern "C" {

void recorder_open(int descriptor, uint64_t bytes, uint64_t base, uint64_t spacing, uint64_t noise) {
    recorder::open_trace(descriptor, bytes);
    recorder::open_arena({base, spacing, noise});
    recorder::open_guard();
}

// What copies from the device give, see downloads.h.
void recorder_answers(int descriptor, uint64_t bytes) { recorder::open_answers(descriptor, bytes); }

void recorder_device(const char* name, const char* target, const int64_t* numbers) {
    recorder::set_device(name, target, numbers);
}

void recorder_layout(const char* kernel, const uint64_t* words, uint64_t count) {
    std::vector<recorder::Slot> slots;
    for (uint64_t i = 0; i < count; i++) slots.push_back({words[2 * i], words[2 * i + 1]});
    recorder::set_layout(kernel, std::move(slots));
}

void* recorder_buffer(uint64_t bytes, uint64_t role, uint64_t position, const char* name) {
    return recorder::allocate(bytes, static_cast<Role>(role), position, name);
}

// Those that were taken already stay taken.
void recorder_answers_skip(uint64_t taken) { recorder::rewind_answers(taken); }
uint64_t recorder_answers_taken() { return recorder::answers_taken(); }
void recorder_farewell(void (*farewell)()) { recorder::set_farewell(farewell); }

// Operations that follow belong to this call of the candidate.
void recorder_call(uint64_t index) {
    recorder::reset_uploads();
    recorder::rewind_answers();
    Record(Kind::Call).number(index);
}

// A strided tensor into a contiguous one.
void recorder_convert(void* from, void* to, const char* dtype, uint64_t rank, const int64_t* sizes, const int64_t* strides,
                      int64_t offset) {
    if (!from || !to) return;
    const std::vector<int64_t> dims(sizes, sizes + rank);
    Record(Kind::Convert)
        .number(reinterpret_cast<uint64_t>(from)).text(dtype).numbers(dims).numbers({strides, strides + rank})
        .number(static_cast<uint64_t>(offset))
        .number(reinterpret_cast<uint64_t>(to)).text(dtype).numbers(dims).numbers(kernelvault::contiguous_strides(dims))
        .number(0);
    recorder::order(recorder::Order::HostWaitsForAll);
}

void recorder_missing(const char* message) { Record(Kind::MissingFunction).text(message); }

void recorder_end() { Record(Kind::End).number(0); }

}  // extern "C"
