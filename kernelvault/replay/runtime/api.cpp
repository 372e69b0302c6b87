// What cpu_child.py calls. Everything else in the image is hidden.
#include <cstdint>
#include <cstring>

#include "counters.h"
#include "memory.h"
#include "model.h"
#include "order.h"
#include "report.h"
#include "scheduler.h"
#include "shadow.h"

namespace {

struct KernelEntry {
    const char* name;
    void (*call)(void* arguments);  // unpacks the argument bytes and calls the kernel
};

constexpr uint64_t kMostGrid = uint64_t{1} << 40;

const KernelEntry* find(const char* name);

}  // namespace

#define KV_API extern "C" __attribute__((visibility("default")))

extern "C" const KernelEntry kernel_table[];  // generated into the image; ends with a null name

namespace {

const KernelEntry* find(const char* name) {
    for (const KernelEntry* entry = kernel_table; entry->name; entry++)
        if (!strcmp(entry->name, name)) return entry;
    return nullptr;
}

}  // namespace

// Makes the buffers. `report` is memory of at least the size of a Report, zeroed. Once a process.
KV_API int kv_open(const uint64_t* sizes, unsigned count, void* report) {
    kv::report = static_cast<kv::Report*>(report);
    return kv::make_memory(sizes, count) ? 0 : 1;
}

KV_API uint64_t kv_report_bytes() { return sizeof(kv::Report); }

KV_API void* kv_buffer(unsigned index) { return kv::buffer_address(index); }

// The buffer's first contents come from the caller, before each replay.
KV_API void kv_given(unsigned index) { kv::mark_buffer_initialised(index); }

// Starts a replay: `poison` in all memory that is not given, first values in module variables.
KV_API void kv_begin(int poison, int findings) {
    kv::findings_wanted = findings != 0;
    kv::forget_order();
    kv::forget_pieces(false);
    kv::reset_memory(uint8_t(poison));
}

KV_API void* kv_variable(const char* name, uint64_t* size) {
    const kv::NamedRange* found = kv::find_variable(name);
    if (!found) return nullptr;
    *size = found->size;
    return found->address;
}

// Before each operation of a plan with several streams: the earlier ones that nothing orders before it.
KV_API void kv_order(unsigned operation, const uint32_t* beside, unsigned count) {
    kv::report->operation = operation;
    kv::order(beside, count);
    kv::operation_begins();
}

KV_API void kv_copy(void* to, const void* from, uint64_t size) {
    kv::touch_range(from, size, false);
    kv::touch_range(to, size, true);
    memmove(to, from, size);
    kv::copy_initialised(to, from, size);
    kv::settle();
}

KV_API void kv_upload(void* to, const void* from, uint64_t size) {
    kv::touch_range(to, size, true);
    memcpy(to, from, size);
    kv::mark_initialised(to, size);
    kv::settle();
}

KV_API void kv_fill(void* to, uint64_t size, const void* pattern, uint64_t pattern_size) {
    kv::touch_range(to, size, true);
    char* at = static_cast<char*>(to);
    for (uint64_t i = 0; i < size; i += pattern_size) memcpy(at + i, pattern, pattern_size < size - i ? pattern_size : size - i);
    kv::mark_initialised(to, size);
    kv::settle();
}

// Runs a kernel on its argument bytes, aligned to 256. `sampled`: 0 for all blocks, else at most that many, counted.
KV_API int kv_launch(unsigned operation, const char* name, const uint32_t* grid, const uint32_t* threads, uint64_t lds_bytes,
                     void* arguments, uint64_t sampled, int backwards) {
    kv::report->operation = operation;
    kv::Extent blocks{grid[0], grid[1], grid[2]}, size{threads[0], threads[1], threads[2]};
    const KernelEntry* entry = find(name);
    kv::Status status = kv::Status::kFinished;
    if (!entry) status = kv::Status::kUnknownKernel;
    else if (size.count() < 1 || size.count() > kv::kMaxThreads || lds_bytes > kv::kDynamicLdsBytes || blocks.count() < 1 ||
             blocks.count() > kMostGrid)
        status = kv::Status::kBadLaunch;
    if (status == kv::Status::kFinished) {
        kv::set_dynamic_lds(lds_bytes);
        kv::counting = sampled != 0;
        if (kv::counting) kv::begin_counting();
        status = kv::run({blocks, size, entry->call, arguments, sampled, backwards != 0});
        uint64_t total = blocks.count();
        if (kv::counting) kv::end_counting(total, sampled < total ? sampled : total);
    }
    kv::report->status = int32_t(status);
    return int(status);
}
