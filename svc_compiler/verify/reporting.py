"""How a report comes to its verdict, its explanation and its fault owner."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path

from kernelvault import errors
from kernelvault.replay.reference import Evaluation, ReferenceFault
from kernelvault.sandbox.metering import stage_times
from kernelvault.v1 import compiler_pb2, kernel_pb2, plan_pb2
from svc_compiler.refusal import Refused

Report = compiler_pb2.VerificationReport

# A graver verdict hides a lighter one, whatever the order of the cases.
_GRAVITY = (
    Report.VERDICT_UNSPECIFIED,
    Report.PASSED,
    Report.NEEDS_DEVICE,
    Report.MISMATCHED,
    Report.TIMED_OUT,
    Report.CRASHED,
    Report.UNSAFE,
    Report.REJECTED,
    Report.COMPILE_FAILED,
)
_MOST_FINDINGS = 64
_MOST_NOTES = 16
_LEAST_FREE_BYTES = 64 << 20


def worsen(draft: Report, verdict: Report.Verdict, explanation: str) -> None:
    """Notes a fault; the draft keeps the gravest verdict and the first explanation of it."""
    if _GRAVITY.index(verdict) > _GRAVITY.index(draft.verdict):
        draft.verdict = verdict
        draft.explanation = explanation
    draft.fault_owner = Report.CANDIDATE


def refuse(draft: Report, refusal: Refused) -> None:
    """Ends the draft where a stage refused the candidate."""
    worsen(draft, refusal.verdict, refusal.explanation)
    draft.findings.extend(refusal.findings)
    if refusal.diagnostics and draft.builds:
        draft.builds[0].diagnostics.extend(refusal.diagnostics)


def blame_reference(draft: Report, fault: ReferenceFault) -> None:
    """Ends the draft where the reference itself failed: no verdict on the candidate."""
    draft.verdict = Report.CRASHED
    draft.explanation = f"The reference failed: {fault}"
    draft.fault_owner = Report.REFERENCE


def add_notes(draft: Report, task: kernel_pb2.Task, evaluations: Mapping[str, Evaluation]) -> None:
    """Says what is special about the cases: sizes that were made smaller, and how the reference was evaluated."""
    shrunk: dict[str, list[str]] = {}
    for case in task.cases:
        if case.shrunk:
            sizes = ", ".join(f"{name} = {value}" for name, value in sorted(case.shrunk.items()))
            shrunk.setdefault(sizes, []).append(case.id)
    for sizes, ids in shrunk.items():
        draft.notes.append(f"Ran with {sizes}, as the given size is too large for the CPU model: {', '.join(ids)}.")
    seen = {note: None for evaluation in evaluations.values() for note in evaluation.notes}
    draft.notes.extend(list(seen)[:_MOST_NOTES])


def leave_out(draft: Report, plan: plan_pb2.LaunchPlan) -> plan_pb2.LaunchPlan:
    """What stands for the plan of a performance case that is data-dependent: nothing to replay, and why."""
    why = "; ".join(plan.limitations)
    draft.notes.append(
        f"Case {plan.case_id} has no plan and is not timed: {why}, and performance cases are not recorded with "
        "execution."
    )
    return plan_pb2.LaunchPlan(case_id=plan.case_id, data_dependent=True, limitations=plan.limitations)


def conclude(draft: Report) -> None:
    """PASSED, if every case ran and passed."""
    if draft.verdict == Report.VERDICT_UNSPECIFIED and draft.case_results:
        if all(result.passed for result in draft.case_results):
            draft.verdict = Report.PASSED
        else:
            raise errors.Internal("NO_VERDICT", "a case failed without a verdict")


def check_machine(draft: Report, scratch: Path) -> None:
    """A failure on a sick machine is no verdict: raises Unavailable where the disk is full."""
    if draft.verdict != Report.PASSED:
        check_disk(scratch)


def check_disk(scratch: Path) -> None:
    """Raises Unavailable where the disk is full."""
    free = shutil.disk_usage(scratch).free
    if free < _LEAST_FREE_BYTES:
        raise errors.Unavailable("DISK_FULL", f"{scratch} has {free} bytes left; nothing can be judged here", 30.0)


def finish(draft: Report, *, started: float, meter: dict[str, float], versions: dict[str, str], worker: str) -> None:
    """Adds when, where and with what the report was made; bounds what a candidate can fill it with."""
    del draft.findings[_MOST_FINDINGS:]
    if any(result.outputs for result in draft.case_results):
        draft.executed_targets.append("cpu")
    metadata = draft.execution_metadata
    metadata.worker = worker
    metadata.start_time.FromNanoseconds(int(started * 1e9))
    metadata.end_time.FromNanoseconds(time.time_ns())
    metadata.stages.extend(stage_times(meter))
    metadata.toolchain.update(versions)
    metadata.toolchain["os"] = f"{os.uname().sysname} {os.uname().release}"
