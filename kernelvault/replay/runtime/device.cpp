// What a kernel asks about itself, barriers, fences, and the parts of ockl that are no arithmetic.
#include <cstdint>
#include <cstring>

#include "amdgcn.h"
#include "fiber.h"
#include "memory.h"
#include "model.h"
#include "report.h"
#include "scheduler.h"
#include "shadow.h"

using kv::block;
using kv::current;

namespace {

unsigned pick(const kv::Extent& extent, unsigned dimension) {
    return dimension == 0 ? extent.x : dimension == 1 ? extent.y : dimension == 2 ? extent.z : 0;
}

// Clocks only go forward; nothing else about them is modelled.
uint64_t ticks;

}  // namespace

extern "C" {

size_t __ockl_get_local_id(unsigned d) { return pick(current->id, d); }
size_t __ockl_get_group_id(unsigned d) { return pick(block.id, d); }
size_t __ockl_get_local_size(unsigned d) { return d < 3 ? pick(block.threads, d) : 1; }
size_t __ockl_get_num_groups(unsigned d) { return d < 3 ? pick(block.grid, d) : 1; }
size_t __ockl_get_global_id(unsigned d) { return pick(block.id, d) * pick(block.threads, d) + pick(current->id, d); }
size_t __ockl_get_global_size(unsigned d) { return pick(block.grid, d) * pick(block.threads, d); }

unsigned __builtin_amdgcn_workitem_id_x() { return current->id.x; }
unsigned __builtin_amdgcn_workitem_id_y() { return current->id.y; }
unsigned __builtin_amdgcn_workitem_id_z() { return current->id.z; }
unsigned __builtin_amdgcn_workgroup_id_x() { return block.id.x; }
unsigned __builtin_amdgcn_workgroup_id_y() { return block.id.y; }
unsigned __builtin_amdgcn_workgroup_id_z() { return block.id.z; }
unsigned short __builtin_amdgcn_workgroup_size_x() { return uint16_t(block.threads.x); }
unsigned short __builtin_amdgcn_workgroup_size_y() { return uint16_t(block.threads.y); }
unsigned short __builtin_amdgcn_workgroup_size_z() { return uint16_t(block.threads.z); }
unsigned __builtin_amdgcn_grid_size_x() { return block.grid.x * block.threads.x; }
unsigned __builtin_amdgcn_grid_size_y() { return block.grid.y * block.threads.y; }
unsigned __builtin_amdgcn_grid_size_z() { return block.grid.z * block.threads.z; }
unsigned __builtin_amdgcn_wavefrontsize() { return kv::kLanes; }
bool __builtin_amdgcn_is_shared(const void* p) { return kv::lds.has(p); }
bool __builtin_amdgcn_is_private(const void* p) { return kv::in_stacks(p); }

[[gnu::noinline]] void __builtin_amdgcn_s_barrier() { kv::wait_for_block(KV_SITE, __builtin_frame_address(0)); }
[[gnu::noinline]] int __ockl_wgred_add_i32(int vote) {
    current->vote = vote;
    kv::wait_for_block(KV_SITE, __builtin_frame_address(0));
    return block.votes_sum;
}
[[gnu::noinline]] int __ockl_wgred_and_i32(int vote) {
    current->vote = vote;
    kv::wait_for_block(KV_SITE, __builtin_frame_address(0));
    return block.votes_and;
}
[[gnu::noinline]] int __ockl_wgred_or_i32(int vote) {
    current->vote = vote;
    kv::wait_for_block(KV_SITE, __builtin_frame_address(0));
    return block.votes_or;
}
// The lanes of a wave run in lockstep; here they meet.
[[gnu::noinline]] void __builtin_amdgcn_wave_barrier() { kv::wait_for_wave(nullptr, nullptr); }

// The fences around a barrier (acquire, release) order nothing that the model could get wrong. Others are where the lanes
// of a wave meet, as in lockstep; those that are wider than a work-group also publish.
[[gnu::noinline]] void __builtin_amdgcn_fence(unsigned order, const char* scope, ...) {
    bool in_wave = !strcmp(scope, "wavefront") || !strcmp(scope, "singlethread"), in_block = !strcmp(scope, "workgroup");
    bool meets = order >= __ATOMIC_ACQ_REL;
    if (!in_wave && !in_block) kv::note_fence();
    if (meets) kv::wait_for_wave(nullptr, nullptr);
    if (!in_wave && order >= __ATOMIC_RELEASE) kv::note_wave_fence(meets);
}
void __builtin_amdgcn_s_waitcnt(int) {}
void __builtin_amdgcn_sched_barrier(int) {}
void __builtin_amdgcn_sched_group_barrier(int, int, int) {}
void __builtin_amdgcn_iglp_opt(int) {}
void __builtin_amdgcn_s_sleep(int) { kv::give_way(); }
void __builtin_amdgcn_s_setprio(short) {}
void __builtin_amdgcn_s_sethalt(int) {}
void __builtin_amdgcn_s_dcache_inv() {}
void __builtin_amdgcn_s_dcache_wb() {}
void __builtin_amdgcn_s_incperflevel(int) {}
void __builtin_amdgcn_s_decperflevel(int) {}
void __builtin_amdgcn_buffer_wbinvl1() {}
void __builtin_amdgcn_endpgm() { kv::finish_thread(); }
unsigned long __builtin_amdgcn_s_memtime() { return ticks += 64; }
unsigned long __builtin_amdgcn_s_memrealtime() { return ticks += 64; }
// Of llvm's names for them.
uint64_t kvd_readcyclecounter() { return ticks += 64; }
uint64_t kvd_readsteadycounter() { return ticks += 64; }
uint64_t __ockl_steadyctr_u64() { return ticks += 64; }
uint64_t __ockl_cyclectr_u64() { return ticks += 64; }

// device_ir.py puts it in the place of llvm.trap.
[[noreturn]] [[gnu::noinline]] void kvd_trap() {
    kv::note_trap(KV_SITE);
    kv::stop(kv::Status::kTrapped);
}
// device_ir.py calls it for the function of AMD's headers that a failed assertion ends in: its caller's line tells more.
[[noreturn]] [[gnu::noinline]] void kvd_assertion() {
    kv::note_trap(KV_SITE);
    kv::stop(kv::Status::kTrapped);
}
// positions.py puts these where lanes of a wave may wait, and part.
void kvd_site(unsigned number) { current->position.set_site(number); }
void kvd_enter(unsigned number) { current->position.enter(number); }
void kvd_leave() { current->position.leave(); }
void kvd_lap(unsigned number) { current->position.end_lap(number); }
[[noreturn]] void kvd_unsupported() { kv::stop(kv::Status::kUnsupported); }

// Device printf and the text of assertions lead nowhere: nothing that a kernel prints is believed.
uint64_t __ockl_printf_begin(uint64_t) { return 0; }
uint64_t __ockl_printf_append_args(uint64_t, uint32_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                                   uint32_t) {
    return 0;
}
uint64_t __ockl_printf_append_string_n(uint64_t, const char*, uint64_t, uint32_t) { return 0; }
uint64_t __ockl_fprintf_stderr_begin() { return 0; }
uint64_t __ockl_fprintf_append_args(uint64_t, uint32_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                                    uint32_t) {
    return 0;
}
uint64_t __ockl_fprintf_append_string_n(uint64_t, const char*, uint64_t, uint32_t) { return 0; }
int printf(const char*, ...) { return 0; }
int puts(const char*) { return 0; }
int putchar(int c) { return c; }

// Grids that synchronise: the general group of cooperative groups names them, and no launch of ours has one.
int __ockl_grid_is_valid() { return 0; }
void __ockl_grid_sync() { kv::stop(kv::Status::kUnsupported); }
int __ockl_multi_grid_is_valid() { return 0; }
void __ockl_multi_grid_sync() { kv::stop(kv::Status::kUnsupported); }
unsigned __ockl_multi_grid_num_grids() { return 1; }
unsigned __ockl_multi_grid_grid_rank() { return 0; }
unsigned __ockl_multi_grid_size() { return unsigned(block.grid.count() * block.threads.count()); }
unsigned __ockl_multi_grid_thread_rank() { return unsigned(block.serial * block.threads.count() + current->index); }
}
