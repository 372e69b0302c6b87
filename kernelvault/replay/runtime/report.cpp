#include "report.h"

#include <cstddef>
#include <cstring>

extern "C" const char __ehdr_start[] __attribute__((visibility("hidden")));

namespace kv {

static_assert(offsetof(Report, findings) == 48 && sizeof(FindingRecord) == 152 && sizeof(CounterRecord) == 36 * 8, "cpu_report.py reads these");

Report* report;
bool findings_wanted = true;

namespace {

// Return addresses point behind the call that is meant.
uint64_t code_offset(uintptr_t code) { return code ? code - 1 - reinterpret_cast<uintptr_t>(__ehdr_start) : 0; }

FindingRecord* new_finding(Kind kind, uint64_t code) {
    if (!findings_wanted || report->finding_count >= kMostFindings) return nullptr;
    for (uint32_t i = 0; i < report->finding_count; i++)
        if (report->findings[i].kind == uint32_t(kind) && report->findings[i].code == code) return nullptr;
    FindingRecord* made = &report->findings[report->finding_count++];
    *made = {};
    made->kind = uint32_t(kind);
    made->operation = report->operation;
    made->block = block.id;
    made->code = code;
    return made;
}

}  // namespace

void add_finding(Kind kind, const Access& access, unsigned other_thread, bool other_same_block, bool other_write,
                 uint32_t other_operation) {
    FindingRecord* made = new_finding(kind, code_offset(access.code));
    if (!made) return;
    Place place = locate(access.address);
    made->thread = current->id;
    made->space = uint32_t(place.space);
    made->object = place.object;
    made->offset = place.offset;
    made->object_size = place.size;
    made->size = access.size;
    made->write = access.write;
    made->other_thread = other_thread;
    made->other_same_block = other_same_block;
    made->other_write = other_write;
    made->other_operation = other_operation;
    strncpy(made->name, name_of(place), sizeof made->name - 1);
}

void report_divergence(const Thread& waiting, const Thread& astray) {
    FindingRecord* made = new_finding(Kind::kDivergentBarrier, code_offset(waiting.site));
    if (!made) return;
    made->thread = waiting.id;
    made->space = uint32_t(Space::kNowhere);
    made->object = -1;
    made->other_thread = astray.index;
    made->other_same_block = 1;
    made->write = astray.state == State::kDone;
}

void note_trap(uintptr_t code) {
    report->trap_code = code_offset(code);
    report->trap_block = block.id;
    report->trap_thread = current->id;
}

CounterRecord* add_counters() {
    if (report->counter_count >= kMostCounters) return nullptr;
    CounterRecord* made = &report->counters[report->counter_count++];
    *made = {};
    made->operation = report->operation;
    return made;
}

}  // namespace kv
