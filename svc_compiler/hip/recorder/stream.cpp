// Streams and events: handles and nothing else, because a plan serialises what was issued.
#include <hip/hip_runtime_api.h>

#include <atomic>

#include "arena.h"
#include "errors.h"

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

}  // namespace
}  // namespace recorder

using recorder::make;

extern "C" {

hipError_t hipDeviceSynchronize() { return hipSuccess; }
hipError_t hipStreamCreate(hipStream_t* stream) { return make(stream); }
hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned) { return make(stream); }
hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned, int) { return make(stream); }
hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest) { return *least = 1, *greatest = -1, hipSuccess; }
hipError_t hipStreamDestroy(hipStream_t) { return hipSuccess; }
hipError_t hipStreamQuery(hipStream_t) { return hipSuccess; }
hipError_t hipStreamSynchronize(hipStream_t) { return hipSuccess; }
hipError_t hipStreamWaitEvent(hipStream_t, hipEvent_t, unsigned) { return hipSuccess; }
hipError_t hipStreamGetFlags(hipStream_t, unsigned* flags) { return *flags = 0, hipSuccess; }
hipError_t hipStreamGetPriority(hipStream_t, int* priority) { return *priority = 0, hipSuccess; }
hipError_t hipStreamIsCapturing(hipStream_t, hipStreamCaptureStatus* status) {
    return *status = hipStreamCaptureStatusNone, hipSuccess;
}

hipError_t hipEventCreate(hipEvent_t* event) { return make(event); }
hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned) { return make(event); }
hipError_t hipEventRecord(hipEvent_t, hipStream_t) { return hipSuccess; }
hipError_t hipEventRecordWithFlags(hipEvent_t, hipStream_t, unsigned) { return hipSuccess; }
hipError_t hipEventSynchronize(hipEvent_t) { return hipSuccess; }
hipError_t hipEventQuery(hipEvent_t) { return hipSuccess; }
hipError_t hipEventDestroy(hipEvent_t) { return hipSuccess; }
// Nothing ran. A time that differs between the runs shows whether host code acts on it.
hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t, hipEvent_t) {
    return *milliseconds = 1.0f + static_cast<float>(recorder::settings().noise), hipSuccess;
}
hipError_t hipProfilerStart() { return hipSuccess; }
hipError_t hipProfilerStop() { return hipSuccess; }

}  // extern "C"
