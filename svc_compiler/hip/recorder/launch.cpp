#include "launch.h"

#include <hip/hip_runtime_api.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>

#include "arena.h"
#include "device.h"
#include "errors.h"
#include "trace.h"

namespace recorder {
namespace {

constexpr unsigned kMaxBlockThreads = 1024;
constexpr uint64_t kPageBytes = 4096;

struct Registry {
    std::map<const void*, std::string> kernels;  // the stub's address -> the symbol
    std::map<std::string, std::vector<Slot>> layouts;
    std::map<const void*, Variable> variables;
};
Registry& registry() {
    static auto* made = new Registry;
    return *made;
}

struct Configuration {
    dim3 grid, block;
    size_t lds;
    hipStream_t stream;
};
thread_local Configuration t_pushed;

const char* fault_of(const dim3& grid, const dim3& block, size_t lds) {
    if (!grid.x || !grid.y || !grid.z) return "the grid is empty";
    if (!block.x || !block.y || !block.z) return "the block is empty";
    const uint64_t threads = uint64_t{block.x} * block.y * block.z;
    if (block.x > kMaxBlockThreads || block.y > kMaxBlockThreads || threads > kMaxBlockThreads)
        return "a block has more than 1024 threads";
    if (uint64_t{grid.x} * block.x > UINT32_MAX || uint64_t{grid.y} * block.y > UINT32_MAX ||
        uint64_t{grid.z} * block.z > UINT32_MAX)
        return "a grid has more than 2^32 - 1 threads along a dimension";
    if (lds > static_cast<size_t>(lds_bytes())) return "more dynamic LDS than a compute unit has";
    return nullptr;
}

std::string describe(const dim3& grid, const dim3& block, size_t lds) {
    auto extent = [](const dim3& e) {
        return "(" + std::to_string(e.x) + ", " + std::to_string(e.y) + ", " + std::to_string(e.z) + ")";
    };
    return "grid " + extent(grid) + ", block " + extent(block) + ", " + std::to_string(lds) + " bytes of dynamic LDS";
}

// Not below 4 GiB: an interpreter that is no position-independent executable (Debian's) lies at 4 MiB, with its heap behind
// it, and there every size of some millions would look like a pointer. A kernel that follows one is caught in its replay.
bool is_host_address(uint64_t word) {
    unsigned char resident;
    if (word >> 32 == 0 || word >> 47) return false;
    return mincore(reinterpret_cast<void*>(word & ~(kPageBytes - 1)), 1, &resident) == 0;
}

// Offsets of words that are addresses of this process: no kernel can follow them. Pinned memory it could, but a plan has
// none.
std::vector<int64_t> host_pointers(const std::string& bytes, const std::vector<Slot>& slots) {
    std::vector<int64_t> found;
    for (const Slot& slot : slots)
        for (uint64_t at = slot.offset; slot.size % 8 == 0 && at < slot.offset + slot.size; at += 8) {
            uint64_t word;
            memcpy(&word, bytes.data() + at, sizeof word);
            if (is_pinned(reinterpret_cast<const void*>(word)))
                (void)unsupported("a kernel that uses pinned host memory");
            else if (is_host_address(word))
                found.push_back(static_cast<int64_t>(at));
        }
    return found;
}

hipError_t launch(const void* stub, const dim3& grid, const dim3& block, void** arguments, size_t lds, hipStream_t stream) {
    Registry& r = registry();
    const auto kernel = r.kernels.find(stub);
    if (kernel == r.kernels.end()) return done(hipErrorInvalidDeviceFunction);
    const std::string& name = kernel->second;
    const auto layout = r.layouts.find(name);
    const char* fault = layout == r.layouts.end() ? "the kernel is not in the code object" : fault_of(grid, block, lds);
    if (fault) {
        Record(Kind::LaunchFailed).text(name).text(fault + (": " + describe(grid, block, lds)));
        return done(layout == r.layouts.end() ? hipErrorInvalidDeviceFunction : hipErrorInvalidConfiguration);
    }
    std::string bytes;  // the argument segment without hidden arguments
    for (size_t i = 0; i < layout->second.size(); i++) {
        const Slot& slot = layout->second[i];
        if (bytes.size() < slot.offset + slot.size) bytes.resize(slot.offset + slot.size);
        memcpy(bytes.data() + slot.offset, arguments[i], slot.size);
    }
    const OnStream on(stream);
    Record record(Kind::Launch);
    record.text(name);
    for (const dim3& extent : {grid, block}) record.number(extent.x).number(extent.y).number(extent.z);
    record.number(lds).text(bytes).numbers(host_pointers(bytes, layout->second));
    return hipSuccess;
}

}  // namespace

void set_layout(const std::string& kernel, std::vector<Slot> slots) { registry().layouts[kernel] = std::move(slots); }

Variable* find_variable(const void* shadow) {
    const auto found = registry().variables.find(shadow);
    return found == registry().variables.end() ? nullptr : &found->second;
}

void* variable_address(Variable& variable) {
    if (!variable.address) variable.address = allocate(variable.bytes, Role::Variable, 0, variable.symbol);
    return variable.address;
}

}  // namespace recorder

using recorder::done;

extern "C" {

// What clang's registration code calls when the object is loaded.
void** __hipRegisterFatBinary(const void*) {
    static void* module;
    return &module;
}
void __hipUnregisterFatBinary(void**) {}
void __hipRegisterFunction(void**, const void* stub, char*, const char* name, unsigned, void*, void*, void*, void*, int*) {
    recorder::registry().kernels[stub] = name;
}
void __hipRegisterVar(void**, void* shadow, char*, char* name, int, size_t bytes, int, int) {
    recorder::registry().variables[shadow] = {name, bytes, nullptr};
}
void __hipRegisterManagedVar(void*, void**, void*, const char* name, size_t, unsigned) {
    (void)recorder::unsupported((std::string("the managed variable ") + name).c_str());
}
void __hipRegisterSurface(void**, void*, char*, char* name, int, int) { (void)recorder::unsupported(name); }
void __hipRegisterTexture(void**, void*, char*, char* name, int, int, int) { (void)recorder::unsupported(name); }

hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t lds, hipStream_t stream) {
    recorder::t_pushed = {grid, block, lds, stream};
    return hipSuccess;
}
hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, size_t* lds, hipStream_t* stream) {
    const auto& pushed = recorder::t_pushed;
    *grid = pushed.grid, *block = pushed.block, *lds = pushed.lds, *stream = pushed.stream;
    return hipSuccess;
}
hipError_t hipLaunchKernel(const void* stub, dim3 grid, dim3 block, void** arguments, size_t lds, hipStream_t stream) {
    return recorder::launch(stub, grid, block, arguments, lds, stream);
}
hipError_t hipExtLaunchKernel(const void* stub, dim3 grid, dim3 block, void** arguments, size_t lds, hipStream_t stream,
                              hipEvent_t, hipEvent_t stop, int) {
    const hipError_t error = recorder::launch(stub, grid, block, arguments, lds, stream);
    return stop ? hipEventRecord(stop, stream) : error;
}
// A plan has no cooperative launch: its blocks need not run at once.
hipError_t hipLaunchCooperativeKernel(const void*, dim3, dim3, void**, unsigned, hipStream_t) {
    return recorder::unsupported("hipLaunchCooperativeKernel");
}

hipError_t hipGetSymbolAddress(void** address, const void* symbol) {
    recorder::Variable* variable = recorder::find_variable(symbol);
    if (!variable) return done(hipErrorInvalidSymbol);
    *address = recorder::variable_address(*variable);
    return hipSuccess;
}
hipError_t hipGetSymbolSize(size_t* bytes, const void* symbol) {
    const recorder::Variable* variable = recorder::find_variable(symbol);
    if (!variable) return done(hipErrorInvalidSymbol);
    *bytes = variable->bytes;
    return hipSuccess;
}

}  // extern "C"
