"""How a capture ends a candidate: each way has a verdict, and words that tell its author what to do."""

from __future__ import annotations

from collections.abc import Collection

from kernelvault import errors
from kernelvault.replay.triton import program as programs
from kernelvault.sandbox import Outcome, memory
from kernelvault.v1 import compiler_pb2, kernel_pb2, plan_pb2
from svc_compiler.recording.verdicts import damaged, keeps_state, unplannable
from svc_compiler.refusal import Refused, Verdict
from svc_compiler.triton import capture_trace
from svc_compiler.triton.capture_trace import Fault, Foreign, Trace

Finding = compiler_pb2.Finding
Diagnostic = compiler_pb2.Diagnostic


def read(descriptor: int, outcome: Outcome) -> Trace:
    """The trace in a memory file.

    One that the recorder did not write is the candidate's doing: REJECTED. Text of a kernel that no kernel may have is
    COMPILE_FAILED. A run that ended before the candidate was loaded is the platform's: Unavailable.
    """
    try:
        with memory.collect(descriptor) as buffer:
            trace = capture_trace.read(buffer)
    except programs.SourceError as error:
        found = Diagnostic(
            level=Diagnostic.ERROR, file=error.file, line=error.line, column=error.column, message=error.problem
        )
        text = f"Compilation failed:\n{error.file}:{error.line}:{error.column}: {error.problem}"
        raise Refused(Verdict.COMPILE_FAILED, text, diagnostics=[found]) from error
    except (memory.SealsChanged, capture_trace.Malformed, programs.Malformed) as error:
        raise damaged(str(error)) from error
    if not trace.begun:
        raise errors.Unavailable("RECORDER_FAILED", f"failed to record host code: {outcome.describe()}")
    return trace


def check(trace: Trace, outcome: Outcome, case: kernel_pb2.Case, allowed_operators: Collection[str]) -> None:
    """Raises Refused for a run that leaves no plan."""
    check_conduct(trace, case, allowed_operators)
    if trace.unanswered:
        check_stopped(trace)
        return
    if trace.fault:
        raise _failed(trace.fault)
    if not trace.ended or not outcome.ok:
        raise _crashed(outcome)
    if len(trace.calls) != capture_trace.CALLS + 1:
        raise damaged(f"it holds {len(trace.calls)} calls")
    first = trace.calls[1]
    if first.other_results or not first.plan.results:
        what = ", ".join(first.other_results) or "nothing"
        raise Refused(Verdict.MISMATCHED, f"The function returns {what}; tensors on the GPU are expected.")


def check_conduct(trace: Trace, case: kernel_pb2.Case, allowed_operators: Collection[str]) -> None:
    """Raises Refused for what ends a candidate wherever its run stopped."""
    if trace.fault and trace.fault.kind == "misfit":
        raise Refused(Verdict.REJECTED, f"Cannot be called: {trace.fault.message}.")
    if trace.foreign:
        raise _foreign(trace.foreign, case, allowed_operators)
    if trace.limitations:
        raise unplannable("; ".join(dict.fromkeys(trace.limitations)))


def check_stopped(trace: Trace) -> None:
    """Raises Refused where a run that stopped at a read without an answer did so in its second call."""
    if len(trace.calls) > capture_trace.CALLS:
        raise keeps_state("it reads more from the device")


def check_results(results: Collection[plan_pb2.Result], case: kernel_pb2.Case) -> None:
    """Raises Refused(MISMATCHED) where what a candidate returns has another count, shape or dtype than expected."""
    wanted = [output for output in case.outputs if output.HasField("tensor")]
    if len(results) != len(wanted):
        raise _mismatched(case, f"{len(results)} tensors are returned, {len(wanted)} are expected")
    for result, output in zip(results, wanted, strict=True):
        given, expected = result.view, output.tensor
        if list(given.dims) != list(expected.dims):
            raise _mismatched(case, f"{output.name}: shape is {list(given.dims)}, expected {list(expected.dims)}")
        if given.dtype != expected.dtype:
            raise _mismatched(case, f"{output.name}: dtype is {given.dtype}, expected {expected.dtype}")


def _mismatched(case: kernel_pb2.Case, what: str) -> Refused:
    return Refused(Verdict.MISMATCHED, f"Case {case.id}: {what}.")


def _foreign(found: Collection[Foreign], case: kernel_pb2.Case, allowed: Collection[str]) -> Refused:
    bare = {name.replace("::", ".").rpartition(".")[2] for name in allowed}
    refused = [one for one in found if not {_bare(one.name), _bare(one.operator)} & bare]
    if not refused:
        listed = ", ".join(dict.fromkeys(f"`{one.name}`" for one in found))
        return unplannable(f"the task allows torch's {listed}, which a plan cannot hold")
    findings = [
        Finding(
            kind=Finding.FOREIGN_OPERATOR,
            message=f"`{one.name}` computes outside a kernel",
            case_id=case.id,
            location=one.place,
        )
        for one in dict.fromkeys(refused)
    ]
    listed = ", ".join(dict.fromkeys(f"`{one.name}`" + (f" ({one.place})" if one.place else "") for one in refused))
    text = f"The candidate leaves {listed} to a library: every tensor computation must be in a kernel of its own."
    return Refused(Verdict.REJECTED, text, findings=findings)


def _bare(name: str) -> str:
    return name.rpartition(".")[2].strip("_")


def _failed(fault: Fault) -> Refused:
    where = f"{fault.file}:{fault.line}: " if fault.file else ""
    if fault.kind in ("syntax", "kernel"):
        found = [Diagnostic(level=Diagnostic.ERROR, file=fault.file, line=fault.line, message=fault.message)]
        text = f"Compilation failed:\n{where}{fault.message}"
        return Refused(Verdict.COMPILE_FAILED, text, diagnostics=found)
    if fault.kind == "reference":
        return unplannable(f"the reference {fault.message}")
    if fault.kind == "memory":
        return Refused(Verdict.CRASHED, f"Host code crashed: {where}out of memory")
    if fault.kind == "exit":
        text = f"Host code ended its process instead of returning: {where}{fault.message}"
        return Refused(Verdict.CRASHED, text)
    return Refused(Verdict.CRASHED, f"Host code threw an exception: {where}{fault.message}")


def _crashed(outcome: Outcome) -> Refused:
    if outcome.timed_out:
        return Refused(Verdict.TIMED_OUT, f"Host code {outcome.describe()}.")
    if outcome.exit_code is not None and not outcome.out_of_memory and not outcome.too_many_processes:
        text = f"Host code ended its process instead of returning: {outcome.describe()}"
        return Refused(Verdict.CRASHED, text)
    return Refused(Verdict.CRASHED, f"Host code crashed: {outcome.describe()}")
