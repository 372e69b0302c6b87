// Allocation: device memory from the arena, pinned memory from the host.
#include <hip/hip_runtime_api.h>
#include <sys/mman.h>

#include <map>
#include <mutex>

#include "arena.h"
#include "errors.h"
#include "trace.h"

namespace recorder {
namespace {

std::mutex g_pinned_lock;
std::map<void*, size_t>& pinned() {
    static auto* made = new std::map<void*, size_t>;
    return *made;
}

hipError_t make(void** pointer, size_t bytes) {
    if (!pointer) return done(hipErrorInvalidValue);
    *pointer = allocate(bytes, Role::Scratch, 0, "");
    return bytes && !*pointer ? done(hipErrorOutOfMemory) : hipSuccess;
}

hipError_t make_rows(void** pointer, size_t* pitch, size_t width, size_t height) {
    *pitch = (width + 511) / 512 * 512;
    return make(pointer, *pitch * height);
}

hipError_t make_pinned(void** pointer, size_t bytes) {
    if (!pointer) return done(hipErrorInvalidValue);
    void* memory = mmap(nullptr, bytes ? bytes : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return done(hipErrorOutOfMemory);
    const std::lock_guard guard(g_pinned_lock);
    pinned()[memory] = bytes ? bytes : 1;
    *pointer = memory;
    return hipSuccess;
}

hipError_t drop(void* pointer) {
    return !pointer || release(pointer) ? hipSuccess : done(hipErrorInvalidValue);
}

hipError_t drop_pinned(void* pointer) {
    const std::lock_guard guard(g_pinned_lock);
    const auto found = pinned().find(pointer);
    if (found == pinned().end()) return pointer ? done(hipErrorInvalidValue) : hipSuccess;
    munmap(pointer, found->second);
    pinned().erase(found);
    return hipSuccess;
}

hipError_t describe(hipPointerAttribute_t* attributes, const void* pointer) {
    *attributes = {};
    if (!owns(pointer)) return done(hipErrorInvalidValue);
    attributes->type = hipMemoryTypeDevice;
    attributes->devicePointer = const_cast<void*>(pointer);
    return hipSuccess;
}

}  // namespace

bool is_pinned(const void* pointer) {
    const std::lock_guard guard(g_pinned_lock);
    for (const auto& [memory, bytes] : pinned())
        if (pointer >= memory && pointer <= static_cast<char*>(memory) + bytes) return true;
    return false;
}

}  // namespace recorder

extern "C" {

hipError_t hipMalloc(void** pointer, size_t bytes) { return recorder::make(pointer, bytes); }
hipError_t hipExtMallocWithFlags(void** pointer, size_t bytes, unsigned) { return recorder::make(pointer, bytes); }
hipError_t hipMallocAsync(void** pointer, size_t bytes, hipStream_t) { return recorder::make(pointer, bytes); }
hipError_t hipMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
    return recorder::make_rows(pointer, pitch, width, height);
}
hipError_t hipMemAllocPitch(hipDeviceptr_t* pointer, size_t* pitch, size_t width, size_t height, unsigned) {
    return recorder::make_rows(pointer, pitch, width, height);
}
// It waits for the device.
hipError_t hipFree(void* pointer) {
    recorder::order(recorder::Order::HostWaitsForAll);
    return recorder::drop(pointer);
}
hipError_t hipFreeAsync(void* pointer, hipStream_t stream) {
    const recorder::OnStream on(stream);
    return recorder::drop(pointer);
}

hipError_t hipHostMalloc(void** pointer, size_t bytes, unsigned) { return recorder::make_pinned(pointer, bytes); }
hipError_t hipHostAlloc(void** pointer, size_t bytes, unsigned) { return recorder::make_pinned(pointer, bytes); }
hipError_t hipMallocHost(void** pointer, size_t bytes) { return recorder::make_pinned(pointer, bytes); }
hipError_t hipMemAllocHost(void** pointer, size_t bytes) { return recorder::make_pinned(pointer, bytes); }
hipError_t hipHostFree(void* pointer) { return recorder::drop_pinned(pointer); }
hipError_t hipFreeHost(void* pointer) { return recorder::drop_pinned(pointer); }
// A kernel that reads host memory cannot be replayed where there is no such host memory.
hipError_t hipHostGetDevicePointer(void**, void*, unsigned) { return recorder::unsupported("hipHostGetDevicePointer"); }

hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* pointer) {
    return recorder::describe(attributes, pointer);
}
hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, size_t* bytes, hipDeviceptr_t pointer) {
    const recorder::Allocation* found = recorder::find(pointer);
    if (!found) return recorder::done(hipErrorInvalidValue);
    if (base) *base = reinterpret_cast<hipDeviceptr_t>(found->address);
    if (bytes) *bytes = found->bytes;
    return hipSuccess;
}

}  // extern "C"
