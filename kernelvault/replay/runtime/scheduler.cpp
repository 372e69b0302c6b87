#include "scheduler.h"

#include "counters.h"
#include "fiber.h"
#include "pieces.h"
#include "report.h"
#include "shadow.h"
#include "work.h"

namespace kv {

Thread threads[kMaxThreads];
Thread* current = threads;
Block block;
Clock clock;

namespace {

// Passes in which every thread only polled, after which nobody will ever come.
constexpr unsigned kIdlePasses = 20000;
// After which lanes that wait for their wave go on without those that poll.
constexpr unsigned kPatientPasses = 8;

const Launch* running;
void* scheduler_stack;
unsigned stacks_used, pass_end;
Status outcome;
bool stopping;
uint64_t barriers;

// Device code keeps its frames chained: see device_ir.py.
struct Frame {
    const Frame* caller;
    uintptr_t return_address;
};
constexpr unsigned kMostFrames = 64;

// The calls from the first frame of a thread to this one.
uintptr_t path_of(const Frame* frame) {
    uintptr_t path = 0;
    for (unsigned i = 0; i < kMostFrames && frame != current->first_frame && in_stacks(frame); i++, frame = frame->caller)
        path = (path ^ frame->return_address) * 0x9E3779B97F4A7C15;
    return path;
}

void thread_main();

void start(Thread& thread) {
    thread.stack_pointer = new_stack(stacks_used++, thread_main);
    thread.state = State::kReady;
}

// The next thread of this pass that can run, after the current one.
Thread* next_ready() {
    for (Thread* thread = current + 1; thread < threads + pass_end; thread++) {
        if (thread->state == State::kReady) return thread;
        if (thread->state == State::kNew) return start(*thread), thread;
    }
    return nullptr;
}

void leave(Thread& from) {
    settle();
    if (counting) lane_stops();
    Thread* to = next_ready();
    if (to) current = to;
    kv_switch(&from.stack_pointer, to ? to->stack_pointer : scheduler_stack);
}

void thread_main() {
    for (;;) {
        current->position.begin();
        current->first_frame = __builtin_frame_address(0);
        running->kernel(running->arguments);
        settle();
        if (counting) lane_stops();
        current->state = State::kDone;
        // A thread that has not started takes over the stack of one that has ended, without a switch.
        Thread* following = current + 1;
        if (following >= threads + pass_end || following->state != State::kNew) break;
        following->state = State::kReady;
        current = following;
    }
    leave(*current);
    __builtin_unreachable();
}

// Lets the threads [first, last) run until each waits or has ended.
void pass(unsigned first, unsigned last) {
    pass_end = last;
    current = threads + first - 1;
    Thread* to = next_ready();
    if (!to) return;
    current = to;
    kv_switch(&scheduler_stack, to->stack_pointer);
}

// Negative: `one` goes first; 0: they act together.
int order_of(const Thread& one, const Thread& other) {
    int order = is_equal(one.position, other.position) ? 0 : compare(one.position, other.position);
    return order ? order : one.operation != other.operation;
}

// The lanes of a wave that go first, as a mask; none where none waits. Lanes that poll are waited for, unless they are
// `idle`: they poll what a waiting lane of their own wave must write, and wait for it where their branch ends on the
// hardware. `together`: no other lane is under way.
uint64_t first_of(unsigned first, unsigned last, bool idle, bool& together) {
    const Thread* leader = nullptr;
    uint64_t mask = 0;
    together = true;
    for (unsigned i = first; i < last; i++) {
        const Thread& thread = threads[i];
        if (thread.state == State::kSpin) {
            if (!idle) return 0;
            together = false;
        }
        if (thread.state != State::kWave) continue;
        if (int order = leader ? order_of(thread, *leader) : 0) {
            together = false;
            if (order > 0) continue;
            leader = nullptr, mask = 0;
        }
        if (!leader) leader = &thread;
        mask |= uint64_t{1} << (i - first);
    }
    return mask;
}

// One operation of a wave whose lanes all wait or have ended.
bool step_wave(unsigned wave, bool idle) {
    unsigned first = wave * kLanes;
    unsigned last = first + kLanes < block.count ? first + kLanes : block.count;
    bool together;
    uint64_t mask = first_of(first, last, idle, together);
    if (!mask) return false;
    void* arguments[kLanes];
    for (uint64_t left = mask; left; left &= left - 1) {
        unsigned lane = unsigned(__builtin_ctzll(left));
        Thread& thread = threads[first + lane];
        arguments[lane] = thread.arguments;
        if (together) thread.position.lap_count = 0;
        thread.position.waits++;
        thread.state = State::kReady;
    }
    current = threads + first;
    if (WaveOperation operation = threads[first + unsigned(__builtin_ctzll(mask))].operation) operation(mask, arguments);
    clock.wave[wave] = ++clock.now;
    wave_met(wave);
    if (!stopping) pass(first, last);
    return true;
}

// As the hardware sees it: a wave that has ended counts no longer; lanes of one wave at two barriers are two arrivals.
// A thread that left without touching memory since the last barrier took an early exit, which is harmless; one that
// worked and then left was meant to wait.
void check_divergence() {
    for (unsigned wave = 0; wave * kLanes < block.count; wave++) {
        const Thread *waiting = nullptr, *astray = nullptr;
        for (unsigned i = wave * kLanes; i < block.count && i < (wave + 1) * kLanes; i++) {
            Thread& thread = threads[i];
            if (thread.state == State::kBarrier) {
                if (waiting && waiting->path != thread.path) astray = &thread;
                waiting = &thread;
            }
        }
        for (unsigned i = wave * kLanes; waiting && !astray && i < block.count && i < (wave + 1) * kLanes; i++)
            if (threads[i].state == State::kDone && threads[i].worked) astray = &threads[i];
        if (waiting && astray) report_divergence(*waiting, *astray);
    }
}

bool release_barrier() {
    bool any = false;
    for (unsigned i = 0; i < block.count && !any; i++) any = threads[i].state == State::kBarrier;
    if (!any) return false;
    check_divergence();
    block.votes_sum = block.votes_or = 0;
    block.votes_and = 1;
    for (unsigned i = 0; i < block.count; i++) {
        Thread& thread = threads[i];
        if (thread.state == State::kBarrier) {
            block.votes_sum += thread.vote;
            block.votes_or |= thread.vote;
            block.votes_and &= thread.vote;
            thread.state = State::kReady;
        }
        thread.worked = false;
        thread.position.lap_count = 0;
    }
    clock.barrier = ++clock.now;
    for (uint32_t& time : clock.wave) time = clock.barrier;
    forget_pieces(true);
    for (unsigned wave = 0; wave * kLanes < block.count; wave++) wave_met(wave);
    barriers++;
    pass(0, block.count);
    return true;
}

bool wake_spinning() {
    bool any = false;
    for (unsigned i = 0; i < block.count; i++)
        if (threads[i].state == State::kSpin) {
            threads[i].state = State::kReady;
            any = true;
        }
    if (any) pass(0, block.count);
    return any;
}

void begin_block(uint64_t serial) {
    const Extent &grid = block.grid, &size = block.threads;
    block.serial = serial;
    block.id = {uint32_t(serial % grid.x), uint32_t(serial / grid.x % grid.y), uint32_t(serial / grid.x / grid.y)};
    stacks_used = 0;
    clock.block = clock.barrier = ++clock.now;
    for (uint32_t& time : clock.wave) time = clock.now;
    for (unsigned i = 0; i < block.count; i++) {
        Thread& thread = threads[i];
        thread.id = {i % size.x, i / size.x % size.y, i / (size.x * size.y)};
        thread.index = uint16_t(i);
        thread.state = State::kNew;
        thread.worked = false;
        thread.polls = 0;
        thread.vote = 0;
    }
    block_begins();
}

void run_block(uint64_t serial) {
    begin_block(serial);
    pass(0, block.count);
    unsigned idle = 0;
    while (!stopping) {
        bool moved = false;
        for (unsigned wave = 0; wave * kLanes < block.count && !stopping; wave++)
            while (!stopping && step_wave(wave, idle > kPatientPasses)) moved = true;
        if (stopping) return;
        idle = moved ? 0 : idle + 1;
        if (wake_spinning()) {
            if (idle > kIdlePasses) outcome = Status::kSpinning, stopping = true;
            continue;
        }
        idle = 0;
        if (!release_barrier()) break;
    }
    for (unsigned wave = 0; wave * kLanes < block.count; wave++) wave_met(wave);
}

}  // namespace

Status run(const Launch& launch) {
    make_stacks();
    running = &launch;
    outcome = Status::kFinished;
    stopping = false;
    barriers = 0;
    block.grid = launch.grid;
    block.threads = launch.threads;
    block.count = unsigned(launch.threads.count());
    operation_begins();
    uint64_t total = launch.grid.count();
    uint64_t count = launch.sampled_blocks && launch.sampled_blocks < total ? launch.sampled_blocks : total;
    for (uint64_t i = 0; i < count && !stopping; i++) {
        uint64_t serial = count == total ? i : i * total / count + total / count / 2;
        run_block(launch.backwards ? total - 1 - serial : serial);
    }
    settle();
    return outcome;
}

void stop(Status status) {
    outcome = status;
    stopping = true;
    void* abandoned;
    kv_switch(&abandoned, scheduler_stack);
    __builtin_unreachable();
}

void wait_for_block(uintptr_t site, const void* frame) {
    Thread& thread = *current;
    thread.state = State::kBarrier;
    thread.site = site;
    thread.path = path_of(static_cast<const Frame*>(frame));
    leave(thread);
}

void wait_for_wave(WaveOperation operation, void* arguments) {
    Thread& thread = *current;
    thread.state = State::kWave;
    thread.operation = operation;
    thread.arguments = arguments;
    leave(thread);
}

void give_way() {
    current->polls = 0;
    current->state = State::kSpin;
    leave(*current);
}

void finish_thread() {
    settle();
    current->state = State::kDone;
    leave(*current);
    __builtin_unreachable();
}

uint64_t barriers_passed() { return barriers; }

}  // namespace kv
