// What host code is told about the device: the one that the CPU model is. All that it asks for is recorded.
#include "device.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "arena.h"
#include "errors.h"
#include "trace.h"

namespace recorder {
namespace {

constexpr int kWaveSize = 64, kMaxBlock = 1024, kMaxThreadsOfUnit = 2048, kMaxGrid = 2147483647;
constexpr int kMemoryClockKhz = 1300000, kBusBits = 8192, kRegisters = 65536, kMajor = 9;

struct Device {
    std::string name, target;
    int compute_units, lds_bytes, clock_khz, cache_bytes, minor;
};
Device& device = *new Device{};

struct Attribute {
    hipDeviceAttribute_t which;
    const char* name;
    int value;
};
// Known from the first question on, by when the device is.
const std::vector<Attribute>& attributes() {
    static const auto* all = new std::vector<Attribute>{
        {hipDeviceAttributeMultiprocessorCount, "multiprocessor_count", device.compute_units},
        {hipDeviceAttributeWarpSize, "warp_size", kWaveSize},
        {hipDeviceAttributeMaxThreadsPerBlock, "max_threads_per_block", kMaxBlock},
        {hipDeviceAttributeMaxThreadsPerMultiProcessor, "max_threads_per_multiprocessor", kMaxThreadsOfUnit},
        {hipDeviceAttributeMaxBlocksPerMultiProcessor, "max_blocks_per_multiprocessor", 32},
        {hipDeviceAttributeMaxBlockDimX, "max_block_dim_x", kMaxBlock},
        {hipDeviceAttributeMaxBlockDimY, "max_block_dim_y", kMaxBlock},
        {hipDeviceAttributeMaxBlockDimZ, "max_block_dim_z", kMaxBlock},
        {hipDeviceAttributeMaxGridDimX, "max_grid_dim_x", kMaxGrid},
        {hipDeviceAttributeMaxGridDimY, "max_grid_dim_y", 65536},
        {hipDeviceAttributeMaxGridDimZ, "max_grid_dim_z", 65536},
        {hipDeviceAttributeMaxSharedMemoryPerBlock, "shared_memory_per_block_bytes", device.lds_bytes},
        {hipDeviceAttributeSharedMemPerBlockOptin, "shared_memory_per_block_optin_bytes", device.lds_bytes},
        {hipDeviceAttributeMaxSharedMemoryPerMultiprocessor, "shared_memory_per_multiprocessor_bytes", device.lds_bytes},
        {hipDeviceAttributeMaxRegistersPerBlock, "registers_per_block", kRegisters},
        {hipDeviceAttributeMaxRegistersPerMultiprocessor, "registers_per_multiprocessor", 2 * kRegisters},
        {hipDeviceAttributeClockRate, "clock_rate_khz", device.clock_khz},
        {hipDeviceAttributeMemoryClockRate, "memory_clock_rate_khz", kMemoryClockKhz},
        {hipDeviceAttributeMemoryBusWidth, "memory_bus_width_bits", kBusBits},
        {hipDeviceAttributeL2CacheSize, "l2_cache_bytes", device.cache_bytes},
        {hipDeviceAttributeComputeCapabilityMajor, "compute_capability_major", kMajor},
        {hipDeviceAttributeComputeCapabilityMinor, "compute_capability_minor", device.minor},
        {hipDeviceAttributeTotalConstantMemory, "constant_memory_bytes", kMaxGrid},
        {hipDeviceAttributeConcurrentKernels, "concurrent_kernels", 1},
        {hipDeviceAttributeIntegrated, "integrated", 0},
        {hipDeviceAttributeCooperativeLaunch, "cooperative_launch", 0},
        {hipDeviceAttributeManagedMemory, "managed_memory", 0},
        {hipDeviceAttributeMemoryPoolsSupported, "memory_pools_supported", 1},
    };
    return *all;
}

// Once for each value: host code may ask in a loop.
void told(const std::string& name, int64_t value) {
    static auto* known = new std::map<std::string, int64_t>;
    static auto* lock = new std::mutex;
    const std::lock_guard guard(*lock);
    const auto [at, fresh] = known->try_emplace(name, value);
    if (!fresh && at->second == value) return;
    at->second = value;
    Record(Kind::Property).text(name).number(static_cast<uint64_t>(value));
}

void fill_in(hipDeviceProp_t* p) {
    *p = {};
    strncpy(p->name, device.name.c_str(), sizeof p->name - 1);
    strncpy(p->gcnArchName, (device.target + ":sramecc+:xnack-").c_str(), sizeof p->gcnArchName - 1);
    p->totalGlobalMem = kDeviceBytes;
    p->sharedMemPerBlock = p->sharedMemPerBlockOptin = p->sharedMemPerMultiprocessor = device.lds_bytes;
    p->maxSharedMemoryPerMultiProcessor = device.lds_bytes;
    p->regsPerBlock = kRegisters, p->regsPerMultiprocessor = 2 * kRegisters;
    p->warpSize = kWaveSize;
    p->maxThreadsPerBlock = kMaxBlock, p->maxThreadsPerMultiProcessor = kMaxThreadsOfUnit;
    p->maxBlocksPerMultiProcessor = 32;
    for (int& size : p->maxThreadsDim) size = kMaxBlock;
    p->maxGridSize[0] = kMaxGrid, p->maxGridSize[1] = p->maxGridSize[2] = 65536;
    p->multiProcessorCount = device.compute_units;
    p->clockRate = device.clock_khz, p->memoryClockRate = kMemoryClockKhz, p->memoryBusWidth = kBusBits;
    p->l2CacheSize = device.cache_bytes;
    p->major = kMajor, p->minor = device.minor;
    p->totalConstMem = kMaxGrid;
    p->concurrentKernels = p->canMapHostMemory = p->ECCEnabled = 1;
}

// Resident blocks, by threads and dynamic LDS; registers are not known here.
int resident_blocks(int threads, size_t lds) {
    if (threads < 1 || threads > kMaxBlock) return 0;
    const int rounded = (threads + kWaveSize - 1) / kWaveSize * kWaveSize;
    const int by_lds = lds ? static_cast<int>(std::min<size_t>(32, static_cast<size_t>(device.lds_bytes) / lds)) : 32;
    return std::min(kMaxThreadsOfUnit / rounded, by_lds);
}

hipError_t answer_occupancy(int* blocks, int threads, size_t lds) {
    *blocks = resident_blocks(threads, lds);
    told("resident_blocks(" + std::to_string(threads) + " threads, " + std::to_string(lds) + " bytes)", *blocks);
    return hipSuccess;
}

}  // namespace

void set_device(const char* name, const char* target, const int64_t* numbers) {
    const auto number = [&](int i) { return static_cast<int>(numbers[i]); };
    device = {name, target, number(0), number(1), number(2), number(3), number(4)};
}

int lds_bytes() { return device.lds_bytes; }

hipDeviceProp_t* device_properties() {
    static hipDeviceProp_t* made = [] {
        auto* properties = new hipDeviceProp_t;
        fill_in(properties);
        return properties;
    }();
    for (const Attribute& attribute : attributes()) told(attribute.name, attribute.value);
    told("total_global_memory_bytes", static_cast<int64_t>(kDeviceBytes));
    return made;
}

}  // namespace recorder

using recorder::done;
using recorder::told;

extern "C" {

hipError_t hipInit(unsigned) { return hipSuccess; }
hipError_t hipGetDeviceCount(int* count) { return *count = 1, hipSuccess; }
hipError_t hipGetDevice(int* device) { return *device = 0, hipSuccess; }
hipError_t hipSetDevice(int device) { return device ? done(hipErrorInvalidDevice) : hipSuccess; }
hipError_t hipDeviceGet(hipDevice_t* device, int) { return *device = 0, hipSuccess; }
hipError_t hipDeviceReset() { return recorder::unsupported("hipDeviceReset"); }
hipError_t hipDriverGetVersion(int* version) { return *version = HIP_VERSION, hipSuccess; }
hipError_t hipRuntimeGetVersion(int* version) { return *version = HIP_VERSION, hipSuccess; }
hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device) {
    if (device) return done(hipErrorInvalidDevice);
    *properties = *recorder::device_properties();
    return hipSuccess;
}
hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t which, int device) {
    if (device) return done(hipErrorInvalidDevice);
    for (const auto& attribute : recorder::attributes())
        if (attribute.which == which) {
            told(attribute.name, attribute.value);
            return *value = attribute.value, hipSuccess;
        }
    return recorder::unsupported(("hipDeviceGetAttribute(" + std::to_string(which) + ")").c_str());
}
hipError_t hipDeviceGetName(char* name, int length, hipDevice_t) {
    strncpy(name, recorder::device.name.c_str(), static_cast<size_t>(length));
    return hipSuccess;
}
hipError_t hipDeviceTotalMem(size_t* bytes, hipDevice_t) {
    told("total_global_memory_bytes", static_cast<int64_t>(recorder::kDeviceBytes));
    return *bytes = recorder::kDeviceBytes, hipSuccess;
}
hipError_t hipMemGetInfo(size_t* free, size_t* total) {
    *total = recorder::kDeviceBytes;
    *free = recorder::kDeviceBytes - recorder::allocated_bytes();
    told("free_memory_bytes", static_cast<int64_t>(*free));
    return hipSuccess;
}
hipError_t hipDeviceSetCacheConfig(hipFuncCache_t) { return hipSuccess; }
hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig) { return hipSuccess; }
hipError_t hipSetDeviceFlags(unsigned) { return hipSuccess; }
hipError_t hipFuncSetAttribute(const void*, hipFuncAttribute, int) { return hipSuccess; }
hipError_t hipFuncSetCacheConfig(const void*, hipFuncCache_t) { return hipSuccess; }
hipError_t hipFuncSetSharedMemConfig(const void*, hipSharedMemConfig) { return hipSuccess; }
hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, const void*) {
    *attributes = {};
    attributes->binaryVersion = attributes->ptxVersion = 10 * recorder::kMajor + recorder::device.minor;
    attributes->maxThreadsPerBlock = recorder::kMaxBlock;
    attributes->maxDynamicSharedSizeBytes = recorder::device.lds_bytes;
    attributes->numRegs = 64;
    told("kernel_registers", attributes->numRegs);
    return hipSuccess;
}
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int threads, size_t lds) {
    return recorder::answer_occupancy(blocks, threads, lds);
}
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int threads, size_t lds, unsigned) {
    return recorder::answer_occupancy(blocks, threads, lds);
}
hipError_t hipOccupancyMaxPotentialBlockSize(int* grid, int* block, const void*, size_t lds, int limit) {
    *block = limit > 0 && limit < recorder::kMaxBlock ? limit : recorder::kMaxBlock;
    *grid = recorder::device.compute_units * std::max(1, recorder::resident_blocks(*block, lds));
    told("best_block_threads", *block);
    told("best_grid_blocks", *grid);
    return hipSuccess;
}

}  // extern "C"
