// What lanes of a wave do together. Each lane publishes its operands on its own stack and waits; one call then computes
// the results of all lanes in the mask.
#include <cstdint>

#include "amdgcn.h"
#include "model.h"
#include "scheduler.h"

using kv::kLanes;

namespace {

struct Exchange {
    int value;
    int where;   // an address, a lane or a control word
    int old = 0;  // what stays where nothing arrives
    unsigned masks = 0;
    bool bound = false;
    int result = 0;
    bool unknown = false;  // the result is what a lane that is switched off has in a register
};

bool active(uint64_t mask, unsigned lane) { return mask >> lane & 1; }

template <class Arguments, class Body>
void each(uint64_t mask, void* const* arguments, Body body) {
    for (uint64_t left = mask; left; left &= left - 1) {
        unsigned lane = unsigned(__builtin_ctzll(left));
        body(lane, *static_cast<Arguments*>(arguments[lane]));
    }
}

int value_of(void* const* arguments, unsigned lane) { return static_cast<Exchange*>(arguments[lane])->value; }

void pull(uint64_t mask, void* const* arguments) {
    each<Exchange>(mask, arguments, [=](unsigned, Exchange& mine) {
        unsigned from = unsigned(mine.where) / 4 % kLanes;
        mine.result = active(mask, from) ? value_of(arguments, from) : 0;
    });
}

void push(uint64_t mask, void* const* arguments) {
    int arrived[kLanes] = {};
    each<Exchange>(mask, arguments, [&](unsigned, Exchange& mine) { arrived[unsigned(mine.where) / 4 % kLanes] = mine.value; });
    each<Exchange>(mask, arguments, [&](unsigned lane, Exchange& mine) { mine.result = arrived[lane]; });
}

void read_first(uint64_t mask, void* const* arguments) {
    int first = value_of(arguments, unsigned(__builtin_ctzll(mask)));
    each<Exchange>(mask, arguments, [=](unsigned, Exchange& mine) { mine.result = first; });
}

void read_lane(uint64_t mask, void* const* arguments) {
    each<Exchange>(mask, arguments, [=](unsigned, Exchange& mine) {
        unsigned from = unsigned(mine.where) % kLanes;
        mine.unknown = !active(mask, from);
        if (!mine.unknown) mine.result = value_of(arguments, from);
    });
}

// The lane that `control` of ds_swizzle_b32 names: by masks, in quads, or by rotation.
unsigned swizzle_source(unsigned lane, unsigned control) {
    if (!(control & 0x8000))
        return (lane & 32) | ((((lane & control) | (control >> 5)) ^ (control >> 10)) & 31);
    if (!(control & 0x4000)) return (lane & ~3u) | (control >> (lane % 4 * 2) & 3);
    unsigned kept = control & 31, count = control >> 5 & 31;
    unsigned turned = control & 0x400 ? lane - count : lane + count;
    return (lane & 32) | (((lane & kept) | (turned & ~kept)) & 31);
}

void swizzle(uint64_t mask, void* const* arguments) {
    each<Exchange>(mask, arguments, [=](unsigned lane, Exchange& mine) {
        unsigned from = swizzle_source(lane, unsigned(mine.where));
        mine.result = active(mask, from) ? value_of(arguments, from) : 0;
    });
}

// The lane that a DPP control word names; 64: none. The table of DPP_CTRL in the ISA's manual.
unsigned dpp_source(unsigned lane, unsigned control) {
    unsigned row = lane & ~15u, place = lane % 16, count = control & 15;
    if (control <= 0xff) return (lane & ~3u) | (control >> (lane % 4 * 2) & 3);
    switch (control & ~15u) {
        case 0x100: return place + count < 16 ? lane + count : kLanes;
        case 0x110: return place >= count ? lane - count : kLanes;
        case 0x120: return row | ((place - count) & 15);
        case 0x150: return row | count;
        default: break;
    }
    switch (control) {
        case 0x130: return lane + 1;
        case 0x134: return (lane + 1) % kLanes;
        case 0x138: return lane ? lane - 1 : kLanes;
        case 0x13c: return (lane - 1) % kLanes;
        case 0x140: return row | (15 - place);
        case 0x141: return (lane & ~7u) | (7 - lane % 8);
        case 0x142: return row ? row - 1 : kLanes;
        case 0x143: return lane >= 32 ? 31 : kLanes;
        default: return kLanes;
    }
}

void dpp(uint64_t mask, void* const* arguments) {
    each<Exchange>(mask, arguments, [=](unsigned lane, Exchange& mine) {
        mine.result = mine.old;
        bool enabled = mine.masks >> (4 + lane / 16) & 1 && mine.masks >> (lane % 16 / 4) & 1;
        if (!enabled) return;
        unsigned from = dpp_source(lane, unsigned(mine.where));
        if (from < kLanes && active(mask, from)) mine.result = value_of(arguments, from);
        else if (mine.bound) mine.result = 0;
    });
}

struct Vote {
    bool yes;
    uint64_t result;
};

void ballot(uint64_t mask, void* const* arguments) {
    uint64_t votes = 0;
    each<Vote>(mask, arguments, [&](unsigned lane, Vote& mine) { votes |= uint64_t{mine.yes} << lane; });
    each<Vote>(mask, arguments, [=](unsigned, Vote& mine) { mine.result = votes; });
}

void execution_mask(uint64_t mask, void* const* arguments) {
    each<Vote>(mask, arguments, [=](unsigned, Vote& mine) { mine.result = mask; });
}

struct Swap {
    unsigned first, second;
};

// Rows of `kRow` lanes: the odd ones of the first operand change places with the even ones of the second.
template <unsigned kRow>
void swap_rows(uint64_t mask, void* const* arguments) {
    each<Swap>(mask, arguments, [=](unsigned lane, Swap& mine) {
        if (!(lane & kRow) || !active(mask, lane - kRow)) return;
        Swap& other = *static_cast<Swap*>(arguments[lane - kRow]);
        unsigned kept = mine.first;
        mine.first = other.second;
        other.second = kept;
    });
}

int exchange(kv::WaveOperation operation, Exchange operands) {
    kv::wait_for_wave(operation, &operands);
    if (operands.unknown) kv::stop(kv::Status::kInactiveLane);
    return operands.result;
}

uint64_t vote(kv::WaveOperation operation, bool yes) {
    Vote mine{yes, 0};
    kv::wait_for_wave(operation, &mine);
    return mine.result;
}

bool compares(int64_t a, int64_t b, int predicate) {
    switch (predicate) {
        case 32: return a == b;
        case 33: return a != b;
        case 34: case 38: return a > b;
        case 35: case 39: return a >= b;
        case 36: case 40: return a < b;
        default: return a <= b;
    }
}

}  // namespace

extern "C" {

unsigned __builtin_amdgcn_mbcnt_lo(unsigned mask, unsigned base) {
    return base + unsigned(__builtin_popcountll(mask & ((uint64_t{1} << kv::lane()) - 1)));
}
unsigned __builtin_amdgcn_mbcnt_hi(unsigned mask, unsigned base) {
    return base + unsigned(__builtin_popcountll((uint64_t{mask} << 32) & ((uint64_t{1} << kv::lane()) - 1)));
}
unsigned __ockl_lane_u32() { return kv::lane(); }

unsigned long __builtin_amdgcn_ballot_w64(bool yes) { return vote(ballot, yes); }
bool __builtin_amdgcn_inverse_ballot_w64(unsigned long mask) { return mask >> kv::lane() & 1; }
unsigned long __builtin_amdgcn_read_exec() { return vote(execution_mask, true); }
unsigned __builtin_amdgcn_read_exec_lo() { return unsigned(vote(execution_mask, true)); }
unsigned __builtin_amdgcn_read_exec_hi() { return unsigned(vote(execution_mask, true) >> 32); }
unsigned __ockl_activelane_u32() {
    return unsigned(__builtin_popcountll(vote(execution_mask, true) & ((uint64_t{1} << kv::lane()) - 1)));
}
int __ockl_wfany_i32(int yes) { return vote(ballot, yes != 0) != 0; }
int __ockl_wfall_i32(int yes) { return vote(ballot, yes == 0) == 0; }
unsigned long __builtin_amdgcn_uicmp(unsigned a, unsigned b, int predicate) {
    return vote(ballot, compares(a, b, predicate));
}
unsigned long __builtin_amdgcn_sicmp(int a, int b, int predicate) { return vote(ballot, compares(a, b, predicate)); }

int __builtin_amdgcn_readfirstlane(int value) { return exchange(read_first, {value, 0}); }
int __builtin_amdgcn_readlane(int value, int lane) { return exchange(read_lane, {value, lane}); }
int __builtin_amdgcn_ds_bpermute(int address, int value) { return exchange(pull, {value, address}); }
int __builtin_amdgcn_ds_permute(int address, int value) { return exchange(push, {value, address}); }
int __builtin_amdgcn_ds_swizzle(int value, int control) {
    constexpr int kTransform = 0xe000;  // the order of a Fourier transform
    if ((control & kTransform) == kTransform) kv::stop(kv::Status::kUnsupported);
    return exchange(swizzle, {value, control});
}
int __builtin_amdgcn_update_dpp(int old, int value, int control, int rows, int banks, bool bound) {
    return exchange(dpp, {value, control, old, unsigned(rows) << 4 | unsigned(banks), bound});
}
int __builtin_amdgcn_mov_dpp(int value, int control, int rows, int banks, bool bound) {
    return exchange(dpp, {value, control, 0, unsigned(rows) << 4 | unsigned(banks), bound});
}
__kv_u32x2 __builtin_amdgcn_permlane16_swap(unsigned first, unsigned second, bool, bool) {
    Swap mine{first, second};
    kv::wait_for_wave(swap_rows<16>, &mine);
    return __kv_u32x2{mine.first, mine.second};
}
__kv_u32x2 __builtin_amdgcn_permlane32_swap(unsigned first, unsigned second, bool, bool) {
    Swap mine{first, second};
    kv::wait_for_wave(swap_rows<32>, &mine);
    return __kv_u32x2{mine.first, mine.second};
}
}
