#include "arena.h"

#include <map>
#include <mutex>

namespace recorder {
namespace {

// Pointers just outside a buffer (p - 1, p + n) still belong to it.
constexpr size_t kGuardBytes = size_t{2} << 20;
// No mapping is made of it: the kernel places mappings from the top of the address space (or, bottom-up, from a third of
// it), far from the bases that are used, and a resource limit would count a reservation.
constexpr size_t kArenaBytes = size_t{8} << 40;

struct Arena {
    Settings settings{};
    uintptr_t next = 0;
    size_t live = 0;
    std::map<uintptr_t, Allocation> allocations;
    std::mutex mutex;
};
Arena& arena() {
    static auto* made = new Arena;
    return *made;
}

}  // namespace

void open_arena(const Settings& given) {
    arena().settings = given;
    arena().next = given.base + kGuardBytes;
}

const Settings& settings() { return arena().settings; }

void* allocate(size_t bytes, Role role, uint64_t position, std::string_view name) {
    Arena& a = arena();
    uintptr_t address = 0;
    if (bytes) {
        const std::lock_guard guard(a.mutex);
        const size_t rounded = (bytes + kGuardBytes - 1) / kGuardBytes * kGuardBytes;
        if (a.live + bytes > kDeviceBytes || a.next + rounded + kGuardBytes > a.settings.base + kArenaBytes) return nullptr;
        address = a.next;
        a.next += rounded + kGuardBytes * (1 + a.settings.spacing * (1 + a.allocations.size() % 3));
        a.live += bytes;
        a.allocations[address] = {address, bytes, role, false};
    }
    Record(Kind::Buffer).number(address).number(bytes).number(static_cast<uint64_t>(role)).number(position).text(name);
    return reinterpret_cast<void*>(address);
}

bool release(void* pointer) {
    Arena& a = arena();
    {
        const std::lock_guard guard(a.mutex);
        const auto found = a.allocations.find(reinterpret_cast<uintptr_t>(pointer));
        if (found == a.allocations.end() || found->second.freed || found->second.role != Role::Scratch) return false;
        found->second.freed = true;
        a.live -= found->second.bytes;
    }
    Record(Kind::Free).number(reinterpret_cast<uint64_t>(pointer));
    return true;
}

const Allocation* find(const void* pointer) {
    Arena& a = arena();
    const std::lock_guard guard(a.mutex);
    auto after = a.allocations.upper_bound(reinterpret_cast<uintptr_t>(pointer));
    if (after == a.allocations.begin()) return nullptr;
    const Allocation& found = (--after)->second;
    return reinterpret_cast<uintptr_t>(pointer) - found.address <= found.bytes + kGuardBytes ? &found : nullptr;
}

bool owns(const void* pointer) {
    const uintptr_t address = reinterpret_cast<uintptr_t>(pointer);
    return address >= arena().settings.base && address < arena().settings.base + kArenaBytes;
}

size_t allocated_bytes() { return arena().live; }

}  // namespace recorder
