#include "memory.h"

#include <cstring>
#include <sys/mman.h>

#include "model.h"

// Around each variable, as device_ir.py lays them out.
constexpr size_t kRedzone = 128;

extern "C" {
extern const kv::NamedRange kernel_lds[], kernel_variables[];  // generated into the image; see unpack.py
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char __bss_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));
// Every `extern __shared__` array is this one. It lies between redzones, as unpacked variables do.
__attribute__((used)) alignas(128) char kv_dynamic_lds_and_zones[kRedzone + kv::kDynamicLdsBytes + kRedzone];
extern char kvd_dynamic_lds[] __attribute__((visibility("hidden")));
}
__asm__(".globl kvd_dynamic_lds\n.hidden kvd_dynamic_lds\n.set kvd_dynamic_lds, kv_dynamic_lds_and_zones + 128");

namespace kv {

Region arena, lds, variables;

namespace {

constexpr unsigned kArenaShift = 16, kTableShift = 7;
constexpr size_t kLeastGuard = 64 << 10, kMostGuard = 4 << 20;
constexpr unsigned kMostObjects = 60000;
constexpr size_t kChunk = 1 << 10;

uint8_t* lds_written;       // one for each kChunk of LDS
char* first_variables;      // what variables held when the image was loaded
uint8_t poison_byte = 0xff;
Object* dynamic_lds;

template <class T>
T* reserve(size_t count) {
    size_t bytes = count * sizeof(T) + 4096;
    void* got = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return got == MAP_FAILED ? nullptr : static_cast<T*>(got);
}

size_t round_up(size_t size, size_t to) { return (size + to - 1) / to * to; }

// `objects` lie in order in the region.
bool finish_region(Region& region, Object* objects, unsigned count, unsigned shift) {
    uint16_t* at = reserve<uint16_t>((region.size >> shift) + 2);
    region.cells = reserve<Cell>(region.size / 4 + 8);
    if (!at || !region.cells) return false;
    for (unsigned i = 1; i < count; i++)
        for (size_t unit = objects[i].start >> shift; unit <= (objects[i].start + objects[i].size) >> shift; unit++)
            at[unit] = uint16_t(i);
    region.objects = objects;
    region.object_at = at;
    region.object_count = count;
    region.shift = shift;
    return true;
}

bool make_arena(const uint64_t* sizes, unsigned count) {
    Object* objects = reserve<Object>(count + 1);
    if (!objects || count + 1 > kMostObjects) return false;
    size_t end = kMostGuard;
    for (unsigned i = 0; i < count; i++) {
        objects[i + 1] = {end, sizes[i], false};
        size_t guard = sizes[i] < kLeastGuard ? kLeastGuard : sizes[i] < kMostGuard ? sizes[i] : kMostGuard;
        end = round_up(end + sizes[i] + guard, size_t{1} << kArenaShift);
    }
    arena.size = end + kMostGuard;
    arena.base = reserve<char>(arena.size + (size_t{1} << kArenaShift));
    if (!arena.base) return false;
    arena.base = reinterpret_cast<char*>(round_up(reinterpret_cast<size_t>(arena.base), size_t{1} << kArenaShift));
    return finish_region(arena, objects, count + 1, kArenaShift);
}

// A region from a table of the image; `extra` is one more range.
bool make_table_region(Region& region, const NamedRange* table, const NamedRange* extra) {
    unsigned count = 0;
    const char *low = extra ? extra->address : nullptr, *high = extra ? extra->address + extra->size : nullptr;
    for (; table[count].name; count++) {
        const NamedRange& range = table[count];
        if (!low || range.address < low) low = range.address;
        if (!high || range.address + range.size > high) high = range.address + range.size;
    }
    if (!low) return true;
    Object* objects = reserve<Object>(count + 2);
    if (!objects || count + 2 > kMostObjects) return false;
    region.base = reinterpret_cast<char*>(reinterpret_cast<size_t>(low) & ~size_t{127}) - kRedzone;
    region.size = round_up(region.offset(high) + 1, 128);
    for (unsigned i = 0; i < count; i++) objects[i + 1] = {region.offset(table[i].address), table[i].size, false};
    if (extra) objects[count + 1] = {region.offset(extra->address), extra->size, false};
    return finish_region(region, objects, count + 1 + (extra != nullptr), kTableShift);
}

// The region of an address, if it has memory that may be unwritten.
Region* written_region(const void* address) { return arena.has(address) ? &arena : lds.has(address) ? &lds : nullptr; }

bool is_written(const Region& region, size_t offset) {
    const Cell& cell = region.cells[offset / 4];
    return !(region.is_lds && cell.write_time < clock.block) && cell.initialised >> offset % 4 & 1;
}

void mark(Region& region, size_t first, size_t size) {
    if (size > region.size - first) return;
    for (size_t at = first; at < first + size;) {
        size_t here = 4 - at % 4 < first + size - at ? 4 - at % 4 : first + size - at;
        region.cells[at / 4].initialised |= uint8_t(((1u << here) - 1) << at % 4);
        at += here;
    }
}

// Takes an object of the region for what was meant if none is nearer.
void find_nearest(const Region& region, const void* address, int64_t& nearest, Place& place) {
    int64_t offset = static_cast<const char*>(address) - region.base;
    for (unsigned i = 1; i < region.object_count; i++) {
        const Object& object = region.objects[i];
        int64_t before = int64_t(object.start) - offset, after = offset - int64_t(object.start + object.size) + 1;
        int64_t distance = before > 0 ? before : after > 0 ? after : 0;
        if (distance >= nearest) continue;
        nearest = distance;
        place = {Space::kGlobal, int32_t(i - 1), offset - int64_t(object.start), object.size};
        if (&region == &variables) place.space = Space::kVariable;
        if (&region == &lds) place.space = &object == dynamic_lds ? Space::kDynamicLds : Space::kStaticLds;
    }
}

}  // namespace

bool make_memory(const uint64_t* sizes, unsigned count) {
    NamedRange dynamic{"", kvd_dynamic_lds, kDynamicLdsBytes};
    lds.is_lds = true;
    if (!make_arena(sizes, count) || !make_table_region(lds, kernel_lds, &dynamic)) return false;
    if (!make_table_region(variables, kernel_variables, nullptr)) return false;
    dynamic_lds = const_cast<Object*>(&lds.objects[lds.object_count - 1]);
    lds_written = reserve<uint8_t>(lds.size / kChunk + 2);
    memset(lds_written, 1, lds.size / kChunk + 1);
    for (unsigned i = 1; i < variables.object_count; i++) const_cast<Object&>(variables.objects[i]).initialised = true;
    first_variables = reserve<char>(variables.size + 1);
    if (variables.size) memcpy(first_variables, variables.base, variables.size);
    return true;
}

void reset_memory(uint8_t poison) {
    poison_byte = poison;
    Region* const regions[] = {&arena, &lds, &variables};
    for (Region* region : regions)
        if (region->size) madvise(region->cells, region->size / 4 * sizeof(Cell), MADV_DONTNEED);
    if (poison == 0) madvise(arena.base, arena.size, MADV_DONTNEED);
    for (unsigned i = 1; i < arena.object_count; i++) {
        Object& buffer = const_cast<Object&>(arena.objects[i]);
        if (poison && !buffer.initialised) memset(arena.base + buffer.start, poison, buffer.size);
    }
    for (unsigned i = 1; i < variables.object_count; i++) {
        const Object& variable = variables.objects[i];
        memcpy(variables.base + variable.start, first_variables + variable.start, variable.size);
    }
    memset(lds_written, 1, lds.size / kChunk + 1);
}

char* buffer_address(unsigned index) { return arena.base + arena.objects[index + 1].start; }

void mark_buffer_initialised(unsigned index) { const_cast<Object&>(arena.objects[index + 1]).initialised = true; }

void set_dynamic_lds(size_t size) { dynamic_lds->size = size; }

void note_lds_write(size_t offset) { lds_written[offset / kChunk] = 1; }

void reset_lds() {
    for (unsigned i = 1; i < lds.object_count; i++) {
        const Object& object = lds.objects[i];
        for (size_t at = object.start; at < object.start + object.size;) {
            size_t chunk = at / kChunk, next = (chunk + 1) * kChunk, end = object.start + object.size;
            size_t until = next < end ? next : end;
            if (lds_written[chunk]) memset(lds.base + at, poison_byte, until - at);
            at = until;
        }
    }
    for (unsigned i = 1; i < lds.object_count; i++) {
        const Object& object = lds.objects[i];
        if (object.size) memset(lds_written + object.start / kChunk, 0, object.size / kChunk + 1);
    }
}

const NamedRange* find_variable(const char* name) {
    for (const NamedRange* range = kernel_variables; range->name; range++)
        if (!strcmp(range->name, name)) return range;
    return nullptr;
}

void mark_initialised(const void* address, size_t size) {
    if (Region* region = written_region(address)) mark(*region, region->offset(address), size);
}

void copy_initialised(const void* to, const void* from, size_t size) {
    Region *target = written_region(to), *source = written_region(from);
    if (!target) return;
    if (!source) return mark_initialised(to, size);
    size_t first = target->offset(to), taken = source->offset(from);
    if (size > target->size - first || size > source->size - taken) return;  // far out of bounds, and found
    if (source->objects[source->object_at[taken >> source->shift]].initialised) return mark(*target, first, size);
    for (size_t n = 0; n < size; n++) {
        size_t i = first > taken ? size - 1 - n : n;  // they may overlap
        uint8_t bit = uint8_t(1 << (first + i) % 4), &bits = target->cells[(first + i) / 4].initialised;
        bits = is_written(*source, taken + i) ? bits | bit : bits & ~bit;
    }
}

Place locate(const void* address) {
    Place place{Space::kNowhere, -1, int64_t(reinterpret_cast<intptr_t>(address)), 0};
    int64_t nearest = INT64_MAX;
    if (arena.has(address)) find_nearest(arena, address, nearest, place);
    // Variables and LDS are in the image.
    else if (address >= __ehdr_start && address < _end) {
        find_nearest(variables, address, nearest, place);
        find_nearest(lds, address, nearest, place);
    }
    return place;
}

const char* name_of(const Place& place) {
    if (place.space == Space::kStaticLds) return kernel_lds[place.object].name;
    if (place.space == Space::kVariable) return kernel_variables[place.object].name;
    return "";
}

bool is_constant(const void* address) {
    return address >= __ehdr_start && address < __bss_start && !(variables.size && address >= variables.base);
}

}  // namespace kv
