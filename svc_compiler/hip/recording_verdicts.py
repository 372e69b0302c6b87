"""How a recording ends a candidate: each way has a verdict, and words that tell its author what to do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from kernelvault import errors
from kernelvault.sandbox import Outcome, memory
from kernelvault.v1 import compiler_pb2, kernel_pb2
from svc_compiler.hip import host_symbols, recording_trace
from svc_compiler.hip import recording_request as request
from svc_compiler.hip.record_child import CALLS
from svc_compiler.hip.recording_addresses import Memory
from svc_compiler.hip.recording_events import Trace
from svc_compiler.hip.recording_plan import Unsafe
from svc_compiler.recording.verdicts import damaged, keeps_state, unplannable
from svc_compiler.refusal import Refused, Verdict

Finding = compiler_pb2.Finding
# The recorder's own, where it finds no memory for what it records.
_EXIT_UNREADY = 70


def read(descriptor: int, outcome: Outcome) -> Trace:
    """The trace in a memory file; one that the recorder did not write is the candidate's doing: REJECTED.

    The recorder notes a call before it loads host code. A run that ended earlier is the platform's: Unavailable.
    """
    try:
        with memory.collect(descriptor) as buffer:
            trace = recording_trace.read(buffer)
    except (memory.SealsChanged, recording_trace.Malformed) as error:
        if outcome.exit_code == _EXIT_UNREADY:
            raise _unready(outcome) from error
        raise damaged(str(error)) from error
    if not trace.calls and not outcome.ok:
        raise _unready(outcome)
    return trace


def _unready(outcome: Outcome) -> errors.Unavailable:
    return errors.Unavailable("RECORDER_FAILED", f"failed to record host code: {outcome.describe()}")


def check(
    trace: Trace,
    outcome: Outcome,
    case: kernel_pb2.Case,
    *,
    name: str,
    torch: bool,
    allowed_operators: Collection[str],
) -> None:
    """Raises Refused for a run that leaves no plan."""
    _check_conduct(trace, case, allowed_operators)
    if trace.missing_function is not None:
        raise _missing(trace.missing_function, case, name, torch)
    if trace.unanswered:
        _check_launches(trace)
        if len(trace.calls) > 1:
            raise keeps_state("it copies more from the device")
        return
    if trace.overflow:
        raise _too_much()
    if trace.thrown is not None or not trace.ended:
        raise _crashed(trace, outcome)
    _check_launches(trace)
    if len(trace.calls) != CALLS:
        raise damaged(f"it holds {len(trace.calls)} calls")
    if (torch and not trace.calls[0].results) or trace.calls[0].other_results:
        raise _wrong_results(trace)


def check_parts(trace: Trace, case: kernel_pb2.Case, allowed_operators: Collection[str]) -> None:
    """Raises Refused for what ends a candidate whose other host code is in Python, which says how it went on."""
    _check_conduct(trace, case, allowed_operators)
    if trace.overflow:
        raise _too_much()
    _check_launches(trace)


def _check_conduct(trace: Trace, case: kernel_pb2.Case, allowed_operators: Collection[str]) -> None:
    if trace.touch is not None:
        raise _touched(trace, case)
    if trace.foreign_operators:
        raise _foreign(trace.foreign_operators, case, allowed_operators)
    if trace.limitations:
        listed = "; ".join(dict.fromkeys(trace.limitations))
        raise unplannable(listed)


def _too_much() -> Refused:
    return unplannable("host code issues more operations than a plan holds")


def unsafe(error: Unsafe, case: kernel_pb2.Case, named: Callable[[str], str]) -> Refused:
    """Device code would use memory that it must not; `named` gives kernels the names that their author knows."""
    kernel = named(error.kernel)
    text = str(error).replace("{kernel}", kernel)
    finding = Finding(kind=error.kind, message=text, case_id=case.id, kernel=kernel, buffer=error.buffer)
    return Refused(Verdict.UNSAFE, f"Unsafe: {text}.", findings=[finding])


def _touched(trace: Trace, case: kernel_pb2.Case) -> Refused:
    address, wrote = trace.touch or (0, False)
    place = Memory(trace.buffers).locate(address)
    buffer = trace.buffers[place.buffer].name or "a buffer of its own" if place else "device memory"
    text = f"host code {'writes' if wrote else 'reads'} device memory ({buffer}); only kernels may"
    finding = Finding(kind=Finding.HOST_ACCESS, message=text, case_id=case.id, buffer=buffer)
    return Refused(Verdict.REJECTED, f"Not a kernel: {text}.", findings=[finding])


def _foreign(operators: Sequence[str], case: kernel_pb2.Case, allowed: Collection[str]) -> Refused:
    refused = [name for name in operators if name not in allowed]
    if refused:
        return host_symbols.foreign(refused, case.id)
    listed = ", ".join(f"`{name}`" for name in dict.fromkeys(operators))
    return unplannable(f"the task allows torch's {listed}, which a plan cannot hold")


def _missing(known: str, case: kernel_pb2.Case, name: str, torch: bool) -> Refused:
    if torch:
        there = f"it defines {known}" if known else "it defines nothing"
        text = f'PYBIND11_MODULE does not define "{name}": {there}. Add m.def("{name}", &{name});'
    else:
        text = f"There is no launcher `{name}` for case {case.id!r}. Expected: {request.prototype(case, name)}"
    return Refused(Verdict.COMPILE_FAILED, text)


def _crashed(trace: Trace, outcome: Outcome) -> Refused:
    if outcome.timed_out:
        return Refused(Verdict.TIMED_OUT, f"Host code {outcome.describe()}.")
    if trace.thrown is not None:
        return Refused(Verdict.CRASHED, f"Host code threw an exception: {trace.thrown}")
    if outcome.exit_code is not None and not outcome.out_of_memory and not outcome.too_many_processes:
        text = f"Host code ended its process instead of returning: {outcome.describe()}"
        return Refused(Verdict.CRASHED, text)
    return Refused(Verdict.CRASHED, f"Host code crashed: {outcome.describe()}")


def _check_launches(trace: Trace) -> None:
    if trace.failed_launches:
        kernel, reason = trace.failed_launches[0]
        raise Refused(Verdict.CRASHED, f"The launch of `{kernel}` fails: {reason}")


def _wrong_results(trace: Trace) -> Refused:
    others = trace.calls[0].other_results
    what = ", ".join(others) if others else "nothing"
    return Refused(Verdict.MISMATCHED, f"The function returns {what}; tensors on the GPU are expected.")
