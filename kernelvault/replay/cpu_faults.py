"""Why a candidate does not pass, from what a CPU replay left."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence

from kernelvault import devices, errors
from kernelvault.replay import cpu_report, replaying
from kernelvault.replay import plan as plans
from kernelvault.sandbox import Outcome
from kernelvault.v1 import compiler_pb2, plan_pb2

Verdict = compiler_pb2.VerificationReport.Verdict
Fault = tuple[compiler_pb2.VerificationReport.Verdict, str]

_SHOWN_FINDINGS = 3
_HINTS = {
    int(signal.SIGFPE): ": an integer is divided by zero",
    int(signal.SIGSEGV): ": a thread needs more private memory than the 192 KiB that it has",
}


def fault(
    plan: plan_pb2.LaunchPlan,
    report: cpu_report.Report,
    outcome: Outcome,
    findings: Sequence[compiler_pb2.Finding],
    locations: Mapping[int, tuple[str, ...]],
) -> Fault | None:
    """The fault of a replay that ended with `outcome`; None if it is good as far as the process can tell.

    `locations` has `file:line` by code offset, for the place of a trap, then those of its callers.
    Raises errors.Internal where the platform or the pairing of plan and image is to blame.
    """
    kernel = kernel_of(plan, report.operation)
    if (ended := of_end(kernel, outcome, findings)) is not None:
        return ended
    match report.status:
        case cpu_report.FINISHED:
            return None
        case cpu_report.TRAPPED:
            return Verdict.CRASHED, _explain_trap(report, kernel, locations)
        case cpu_report.SPINNING:
            why = "waits for other blocks, which the CPU model runs one after another"
            return Verdict.NEEDS_DEVICE, f"{kernel} {why}."
        case cpu_report.UNSUPPORTED:
            return Verdict.NEEDS_DEVICE, f"{kernel} uses an instruction with operands that the CPU model lacks."
        case cpu_report.INACTIVE_LANE:
            why = "reads registers of lanes that are switched off: what is in them, only the hardware knows"
            return Verdict.NEEDS_DEVICE, f"{kernel} {why}."
        case cpu_report.STOPPED:
            return Verdict.UNSAFE, f"{kernel} was stopped at an access that would do harm."
        case _:
            raise errors.Internal("PLAN_FOREIGN", f"failed to replay a launch plan: the image cannot run {kernel}")


def of_end(kernel: str, outcome: Outcome, findings: Sequence[compiler_pb2.Finding]) -> Fault | None:
    """The fault of a replay that had findings or did not end well, whatever ran it; None if it did.

    `kernel` is the last that was begun. Raises errors.Internal where the platform is to blame.
    """
    if findings:
        return Verdict.UNSAFE, _explain(findings)
    if outcome.timed_out:
        return Verdict.TIMED_OUT, f"The replay met its time limit in {kernel} ({outcome.describe()})."
    if outcome.out_of_memory:
        return Verdict.NEEDS_DEVICE, "The replay needs more memory than the CPU model gives."
    if outcome.signal is not None:
        return Verdict.CRASHED, f"The replay was {outcome.describe()} in {kernel}{_HINTS.get(outcome.signal, '')}."
    if outcome.exit_code == replaying.BAD_PLAN:
        return Verdict.CRASHED, outcome.stderr.decode(errors="replace").strip()
    if not outcome.ok:
        raise errors.Internal("REPLAY_BROKEN", f"failed to replay a launch plan: {outcome.describe()}")
    return None


def kernel_of(plan: plan_pb2.LaunchPlan, operation: int) -> str:
    """The kernel that an operation launches, in words."""
    if operation < len(plan.operations) and plan.operations[operation].WhichOneof("operation") == "launch":
        kernel = plan.kernels[plan.operations[operation].launch.kernel]
        return f"the kernel {kernel.display_name or kernel.name}"
    return "the plan"


def _explain_trap(report: cpu_report.Report, kernel: str, locations: Mapping[int, tuple[str, ...]]) -> str:
    code, block, thread = report.trap
    place = f"{locations[code][0]}: " if code in locations else ""
    return (
        f"{place}thread {thread} of block {block} of {kernel} ended it: an assertion failed (HIP's `_sync` functions "
        "assert that their mask names just the lanes that call them), or it called abort() or a trap."
    )


def _explain(findings: Sequence[compiler_pb2.Finding]) -> str:
    # An unrolled loop has many places in the code and one line in the source.
    lines = {(f.location or f.message, f.kind, f.buffer): f for f in reversed(findings)}
    first = list(reversed(lines.values()))[:_SHOWN_FINDINGS]
    shown = [f"{f.location + ': ' if f.location else ''}{f.kernel}: {f.message}" for f in first]
    more = f" And {len(findings) - len(first)} more." if len(findings) > len(first) else ""
    return "; ".join(shown) + "." + more


def impossible_launch(plan: plan_pb2.LaunchPlan) -> str:
    """Why a launch would fail on a GPU for which its kernel was compiled; empty if none would."""
    for launch in plans.launches(plan):
        kernel = plan.kernels[launch.kernel]
        name, threads = kernel.display_name or kernel.name, plans.thread_count(launch.block)
        for image in kernel.images:
            lds, most = image.resources.lds_bytes + launch.dynamic_lds_bytes, devices.lds_bytes(image.target)
            if most and lds > most:
                return f"The kernel {name} is launched with {lds} bytes of shared memory; {image.target} has {most}."
            allowed = image.resources.max_block_threads
            if most and allowed and threads > allowed:
                return f"The kernel {name} is launched with {threads} threads a block; it was compiled for {allowed}."
    return ""
