// Checks, streams and properties of the shadow headers.
#include <ATen/hip/HIPContext.h>
#include <torch/library.h>

#include <cstdio>

#include "device.h"
#include "errors.h"
#include "trace.h"

namespace kernelvault {

void check_failed(const char* condition, const char* file, int line, const std::string& message) {
    const std::string path(file);
    const std::string place = " (at " + path.substr(path.rfind('/') + 1) + ":" + std::to_string(line) + ")";
    throw c10::Error((message.empty() ? std::string("expected ") + condition + " to be true, but got false" : message) + place);
}

void warn(const std::string& message) { fprintf(stderr, "warning: %s\n", message.c_str()); }

void check_hip(hipError_t error, const char* what, const char* file, int line) {
    if (error != hipSuccess) check_failed(what, file, line, std::string("HIP error: ") + hipGetErrorString(error));
}

void not_dispatched(const char* name, at::ScalarType type) {
    throw c10::Error(std::string("\"") + name + "\" not implemented for '" + c10::toString(type) + "'");
}

void foreign_operator(const char* name) {
    recorder::Record(recorder::Kind::Foreign).text(name);
    throw c10::Error(std::string("the torch operator `") + name + "` was called outside a kernel");
}

void registers_operators(const char* library) { (void)recorder::unsupported(library); }

}  // namespace kernelvault

namespace c10::hip {
namespace {
thread_local HIPStream t_current;
}

HIPStream getCurrentHIPStream(DeviceIndex) { return t_current; }
HIPStream getDefaultHIPStream(DeviceIndex) { return HIPStream(); }
void setCurrentHIPStream(HIPStream stream) { t_current = stream; }
HIPStream getStreamFromPool(bool, DeviceIndex) {
    hipStream_t stream;
    (void)hipStreamCreateWithFlags(&stream, hipStreamNonBlocking);
    return HIPStream(stream);
}

}  // namespace c10::hip

namespace at::cuda {
hipDeviceProp_t* getCurrentDeviceProperties() { return recorder::device_properties(); }
}  // namespace at::cuda

namespace torch::cuda {
size_t device_count() { return 1; }
void synchronize(int64_t) { (void)hipDeviceSynchronize(); }
}  // namespace torch::cuda
