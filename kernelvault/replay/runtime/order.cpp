#include "order.h"

#include "model.h"
#include "pieces.h"
#include "report.h"

namespace kv {
namespace {

constexpr uint32_t kMostOperations = 1 << 15;

struct Begin {
    uint32_t time, operation;
} begins[kMostOperations];
uint32_t begun;
bool ordered, beside[kMostOperations], any_beside;

// The operation that a time is in: the last that began before it.
const Begin* at(uint32_t time) {
    uint32_t low = 0, high = begun;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (begins[middle].time <= time) low = middle + 1;
        else high = middle;
    }
    return low ? &begins[low - 1] : nullptr;
}

}  // namespace

void order(const uint32_t* others, uint32_t count) {
    ordered = true;
    any_beside = count;
    for (bool& flag : beside) flag = false;
    for (uint32_t i = 0; i < count; i++)
        if (others[i] < kMostOperations) beside[others[i]] = true;
}

void forget_order() {
    ordered = any_beside = false;
    begun = 0;
}

bool has_order() { return ordered; }

void operation_begins() {
    clock.launch = clock.block = clock.barrier = ++clock.now;
    clock.since = clock.launch;
    for (uint32_t i = begun; any_beside && i--;)
        if (beside[begins[i].operation]) clock.since = begins[i].time;
    if (!ordered) forget_pieces(false);
    else if (begun < kMostOperations) begins[begun++] = {clock.now, report->operation};
}

bool is_beside(uint32_t time) {
    const Begin* found = any_beside ? at(time) : nullptr;
    return found && beside[found->operation];
}

uint32_t other_operation(uint32_t time) {
    const Begin* found = time < clock.launch ? at(time) : nullptr;
    return found ? found->operation + 1 : 0;
}

}  // namespace kv
