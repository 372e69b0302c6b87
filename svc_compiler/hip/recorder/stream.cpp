// Streams and events: handles, and what they order. Nothing runs, so that all is done whenever host code asks.
#include <hip/hip_runtime_api.h>

#include <atomic>

#include "arena.h"
#include "errors.h"
#include "trace.h"

namespace recorder {
namespace {

std::atomic<uintptr_t> g_handles{0};

template <class T>
hipError_t make(T* handle) {
    if (!handle) return done(hipErrorInvalidValue);
    // Small odd numbers, which are neither addresses nor HIP's own special streams.
    *handle = reinterpret_cast<T>(0x1001 + 2 * g_handles++);
    return hipSuccess;
}

hipError_t make_stream(hipStream_t* stream, unsigned flags) {
    const hipError_t error = make(stream);
    if (error == hipSuccess) stream_made(*stream, flags & hipStreamNonBlocking);
    return error;
}

hipError_t ordered(Order what, const void* first = nullptr, const void* second = nullptr) {
    order(what, first, second);
    return hipSuccess;
}

}  // namespace
}  // namespace recorder

using recorder::make;
using recorder::make_stream;
using recorder::Order;
using recorder::ordered;

extern "C" {

hipError_t hipDeviceSynchronize() { return ordered(Order::HostWaitsForAll); }
hipError_t hipStreamCreate(hipStream_t* stream) { return make_stream(stream, hipStreamDefault); }
hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) { return make_stream(stream, flags); }
hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned flags, int) { return make_stream(stream, flags); }
hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest) { return *least = 1, *greatest = -1, hipSuccess; }
hipError_t hipStreamDestroy(hipStream_t) { return hipSuccess; }
hipError_t hipStreamQuery(hipStream_t stream) { return ordered(Order::HostWaits, stream); }
hipError_t hipStreamSynchronize(hipStream_t stream) { return ordered(Order::HostWaits, stream); }
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned) {
    return ordered(Order::StreamWaits, stream, event);
}
hipError_t hipStreamGetFlags(hipStream_t, unsigned* flags) { return *flags = 0, hipSuccess; }
hipError_t hipStreamGetPriority(hipStream_t, int* priority) { return *priority = 0, hipSuccess; }
hipError_t hipStreamIsCapturing(hipStream_t, hipStreamCaptureStatus* status) {
    return *status = hipStreamCaptureStatusNone, hipSuccess;
}

hipError_t hipEventCreate(hipEvent_t* event) { return make(event); }
hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned) { return make(event); }
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) { return ordered(Order::EventMarks, event, stream); }
hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream, unsigned) {
    return ordered(Order::EventMarks, event, stream);
}
hipError_t hipEventSynchronize(hipEvent_t event) { return ordered(Order::HostAwaits, event); }
hipError_t hipEventQuery(hipEvent_t event) { return ordered(Order::HostAwaits, event); }
hipError_t hipEventDestroy(hipEvent_t) { return hipSuccess; }
// Nothing ran. A time that differs between the runs shows whether host code acts on it.
hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t, hipEvent_t) {
    return *milliseconds = 1.0f + static_cast<float>(recorder::settings().noise), hipSuccess;
}
hipError_t hipProfilerStart() { return hipSuccess; }
hipError_t hipProfilerStop() { return hipSuccess; }

}  // extern "C"
