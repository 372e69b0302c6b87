#include "copies.h"

#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "arena.h"
#include "downloads.h"
#include "errors.h"
#include "launch.h"
#include "trace.h"

namespace recorder {
namespace {

constexpr size_t kMaxUploadBytes = 64 << 10;
constexpr size_t kMaxFillRows = 256;
std::atomic<size_t> g_uploaded{0};

// Rows of bytes, as a strided copy.
hipError_t copy_rows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                     const char* what) {
    if (!width || !height) return hipSuccess;
    if (width > to_pitch || width > from_pitch) return done(hipErrorInvalidValue);
    if (owns(to) && owns(from)) {
        const std::vector<int64_t> dims{static_cast<int64_t>(height), static_cast<int64_t>(width)};
        Record record(Kind::Convert);
        for (const auto& [address, pitch] : {std::pair<const void*, size_t>(from, from_pitch), {to, to_pitch}})
            record.number(reinterpret_cast<uint64_t>(address)).text("uint8").numbers(dims).numbers({static_cast<int64_t>(pitch), 1}).number(0);
        return hipSuccess;
    }
    if (owns(from)) {
        const std::vector<int64_t> dims{static_cast<int64_t>(height), static_cast<int64_t>(width)};
        const char* rows = download({from, "uint8", dims, {static_cast<int64_t>(from_pitch), 1}, 0}, width * height, what);
        for (size_t row = 0; row < height; row++) memcpy(static_cast<char*>(to) + row * to_pitch, rows + row * width, width);
        return hipSuccess;
    }
    for (size_t row = 0; row < height; row++)
        (void)copy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch, width, what);
    return hipSuccess;
}

hipError_t fill_rows(void* to, size_t pitch, int value, size_t width, size_t height) {
    if (width == pitch || height == 1) return hipMemset(to, value, width * height);
    if (height > kMaxFillRows) return unsupported("hipMemset2D of more than 256 rows");
    for (size_t row = 0; row < height; row++) (void)hipMemset(static_cast<char*>(to) + row * pitch, value, width);
    return hipSuccess;
}

hipError_t copy_to_symbol(const void* symbol, const void* from, size_t bytes, size_t offset) {
    Variable* variable = find_variable(symbol);
    if (!variable) return done(hipErrorInvalidSymbol);
    if (offset > variable->bytes || bytes > variable->bytes - offset) return done(hipErrorInvalidValue);
    return copy(static_cast<char*>(variable_address(*variable)) + offset, from, bytes, "hipMemcpyToSymbol");
}

hipError_t copy_from_symbol(void* to, const void* symbol, size_t bytes, size_t offset) {
    Variable* variable = find_variable(symbol);
    if (!variable) return done(hipErrorInvalidSymbol);
    if (offset > variable->bytes || bytes > variable->bytes - offset) return done(hipErrorInvalidValue);
    return copy(to, static_cast<char*>(variable_address(*variable)) + offset, bytes, "hipMemcpyFromSymbol");
}

// A copy to or from the host is over when host code goes on.
hipError_t waited(hipError_t error, const void* to, const void* from, hipStream_t stream = nullptr) {
    if (!owns(to) || !owns(from)) order(Order::HostWaits, stream);
    return error;
}

}  // namespace

void reset_uploads() { g_uploaded = 0; }

void upload(void* to, const void* from, size_t bytes) {
    const size_t total = g_uploaded += bytes;
    if (total > kMaxUploadBytes) {
        const std::string text = "host code uploads " + std::to_string(total) + " bytes or more; a plan holds at most 65536";
        Record(Kind::Limitation).text(text);
        return;
    }
    Record(Kind::Upload).number(reinterpret_cast<uint64_t>(to)).text({static_cast<const char*>(from), bytes});
}

hipError_t copy(void* to, const void* from, size_t bytes, const char* what) {
    if (!bytes) return hipSuccess;
    if (!to || !from) return done(hipErrorInvalidValue);
    const bool to_device = owns(to), from_device = owns(from);
    if (to_device && from_device)
        Record(Kind::Copy).number(reinterpret_cast<uint64_t>(to)).number(reinterpret_cast<uint64_t>(from)).number(bytes);
    else if (to_device)
        upload(to, from, bytes);
    else if (from_device)
        memcpy(to, download({from, "uint8", {static_cast<int64_t>(bytes)}, {1}, 0}, bytes, what), bytes);
    else
        memmove(to, from, bytes);
    return hipSuccess;
}

hipError_t fill(void* to, const void* pattern, size_t width, size_t count) {
    if (!count) return hipSuccess;
    if (!to) return done(hipErrorInvalidValue);
    if (owns(to)) {
        Record(Kind::Fill).number(reinterpret_cast<uint64_t>(to)).number(width * count).text({static_cast<const char*>(pattern), width});
        return hipSuccess;
    }
    for (size_t i = 0; i < count; i++) memcpy(static_cast<char*>(to) + i * width, pattern, width);
    return hipSuccess;
}

}  // namespace recorder

using recorder::copy;
using recorder::fill;
using recorder::OnStream;
using recorder::waited;

extern "C" {

hipError_t hipMemcpy(void* to, const void* from, size_t n, hipMemcpyKind) {
    return waited(copy(to, from, n, "hipMemcpy"), to, from);
}
hipError_t hipMemcpyAsync(void* to, const void* from, size_t n, hipMemcpyKind, hipStream_t stream) {
    const OnStream on(stream);
    return copy(to, from, n, "hipMemcpyAsync");
}
hipError_t hipMemcpyWithStream(void* to, const void* from, size_t n, hipMemcpyKind, hipStream_t stream) {
    const OnStream on(stream);
    return waited(copy(to, from, n, "hipMemcpyWithStream"), to, from, stream);
}
hipError_t hipMemcpyHtoD(hipDeviceptr_t to, void* from, size_t n) {
    return waited(copy(to, from, n, "hipMemcpyHtoD"), to, from);
}
hipError_t hipMemcpyDtoH(void* to, hipDeviceptr_t from, size_t n) {
    return waited(copy(to, from, n, "hipMemcpyDtoH"), to, from);
}
hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, size_t n) {
    return waited(copy(to, from, n, "hipMemcpyDtoD"), to, from);
}
hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, void* from, size_t n, hipStream_t stream) {
    const OnStream on(stream);
    return copy(to, from, n, "hipMemcpyHtoDAsync");
}
hipError_t hipMemcpyDtoHAsync(void* to, hipDeviceptr_t from, size_t n, hipStream_t stream) {
    const OnStream on(stream);
    return copy(to, from, n, "hipMemcpyDtoHAsync");
}
hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, size_t n, hipStream_t stream) {
    const OnStream on(stream);
    return copy(to, from, n, "hipMemcpyDtoDAsync");
}
hipError_t hipMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                       hipMemcpyKind) {
    const hipError_t error = recorder::copy_rows(to, to_pitch, from, from_pitch, width, height, "hipMemcpy2D");
    return waited(error, to, from);
}
hipError_t hipMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                            hipMemcpyKind, hipStream_t stream) {
    const OnStream on(stream);
    return recorder::copy_rows(to, to_pitch, from, from_pitch, width, height, "hipMemcpy2DAsync");
}
hipError_t hipMemcpyToSymbol(const void* symbol, const void* from, size_t n, size_t offset, hipMemcpyKind) {
    return waited(recorder::copy_to_symbol(symbol, from, n, offset), nullptr, from);
}
hipError_t hipMemcpyToSymbolAsync(const void* symbol, const void* from, size_t n, size_t offset, hipMemcpyKind,
                                  hipStream_t stream) {
    const OnStream on(stream);
    return recorder::copy_to_symbol(symbol, from, n, offset);
}
hipError_t hipMemcpyFromSymbol(void* to, const void* symbol, size_t n, size_t offset, hipMemcpyKind) {
    return waited(recorder::copy_from_symbol(to, symbol, n, offset), to, nullptr);
}
hipError_t hipMemcpyFromSymbolAsync(void* to, const void* symbol, size_t n, size_t offset, hipMemcpyKind, hipStream_t stream) {
    const OnStream on(stream);
    return recorder::copy_from_symbol(to, symbol, n, offset);
}

hipError_t hipMemset(void* to, int value, size_t n) {
    const unsigned char byte = static_cast<unsigned char>(value);
    return fill(to, &byte, 1, n);
}
hipError_t hipMemsetAsync(void* to, int value, size_t n, hipStream_t stream) {
    const OnStream on(stream);
    return hipMemset(to, value, n);
}
hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value, size_t n) { return fill(to, &value, 1, n); }
hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value, size_t n, hipStream_t stream) {
    const OnStream on(stream);
    return fill(to, &value, 1, n);
}
hipError_t hipMemsetD16(hipDeviceptr_t to, unsigned short value, size_t n) { return fill(to, &value, 2, n); }
hipError_t hipMemsetD16Async(hipDeviceptr_t to, unsigned short value, size_t n, hipStream_t stream) {
    const OnStream on(stream);
    return fill(to, &value, 2, n);
}
hipError_t hipMemsetD32(hipDeviceptr_t to, int value, size_t n) { return fill(to, &value, 4, n); }
hipError_t hipMemsetD32Async(hipDeviceptr_t to, int value, size_t n, hipStream_t stream) {
    const OnStream on(stream);
    return fill(to, &value, 4, n);
}
hipError_t hipMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
    return recorder::fill_rows(to, pitch, value, width, height);
}
hipError_t hipMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height, hipStream_t stream) {
    const OnStream on(stream);
    return recorder::fill_rows(to, pitch, value, width, height);
}

}  // extern "C"
