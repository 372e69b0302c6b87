#include "errors.h"

#include <string>

#include "trace.h"

namespace recorder {
namespace {
thread_local hipError_t t_last = hipSuccess;
}

hipError_t done(hipError_t error) {
    if (error != hipSuccess) t_last = error;
    return error;
}

hipError_t unsupported(const char* what) {
    Record(Kind::Limitation).text(what);
    return done(hipErrorNotSupported);
}

}  // namespace recorder

namespace {

struct Named {
    hipError_t error;
    const char* name;
    const char* text;
};
constexpr Named kErrors[] = {
    {hipSuccess, "hipSuccess", "no error"},
    {hipErrorInvalidValue, "hipErrorInvalidValue", "invalid argument"},
    {hipErrorOutOfMemory, "hipErrorOutOfMemory", "out of memory"},
    {hipErrorInvalidConfiguration, "hipErrorInvalidConfiguration", "invalid configuration argument"},
    {hipErrorInvalidSymbol, "hipErrorInvalidSymbol", "invalid device symbol"},
    {hipErrorInvalidDevicePointer, "hipErrorInvalidDevicePointer", "invalid device pointer"},
    {hipErrorInvalidDeviceFunction, "hipErrorInvalidDeviceFunction", "invalid device function"},
    {hipErrorInvalidDevice, "hipErrorInvalidDevice", "invalid device ordinal"},
    {hipErrorInvalidHandle, "hipErrorInvalidHandle", "invalid resource handle"},
    {hipErrorNotReady, "hipErrorNotReady", "device not ready"},
    {hipErrorNotSupported, "hipErrorNotSupported", "operation not supported"},
};
const Named& named(hipError_t error) {
    for (const Named& one : kErrors)
        if (one.error == error) return one;
    static constexpr Named unknown{hipErrorUnknown, "hipErrorUnknown", "unknown error"};
    return unknown;
}

}  // namespace

extern "C" {

hipError_t hipGetLastError() {
    const hipError_t last = hipPeekAtLastError();
    recorder::t_last = hipSuccess;
    return last;
}
hipError_t hipExtGetLastError() { return hipGetLastError(); }
hipError_t hipPeekAtLastError() {
    if (recorder::t_last != hipSuccess) recorder::Record(recorder::Kind::ErrorSeen).number(0);
    return recorder::t_last;
}
const char* hipGetErrorName(hipError_t error) { return named(error).name; }
const char* hipGetErrorString(hipError_t error) { return named(error).text; }
hipError_t hipDrvGetErrorName(hipError_t error, const char** name) {
    *name = named(error).name;
    return hipSuccess;
}
hipError_t hipDrvGetErrorString(hipError_t error, const char** text) {
    *text = named(error).text;
    return hipSuccess;
}

}  // extern "C"
