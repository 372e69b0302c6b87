"""Examines a script that has no task: records what it launches, compiles that, and interprets it.

Three kinds of sandboxed children, none of which the others trust: one runs the script with launches recorded, one for
each target holds nothing of the script but the kernels' text, one runs the script anew with its kernels interpreted.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from kernelvault.replay.triton import program as programs
from kernelvault.sandbox import Job, Limits, Outcome
from kernelvault.sandbox.metering import MeteredSandbox, metered, stage, stage_times
from kernelvault.v1 import compiler_pb2, triton_pb2
from svc_compiler.refusal import Refused, Verdict
from svc_compiler.triton import script_reply
from svc_compiler.triton.compile import TritonBuild, compile_program
from svc_compiler.triton.script_actions import ScriptWork
from svc_compiler.triton.script_reply import Reply
from svc_compiler.verify import reporting
from svc_compiler.verify.verifier import Progress

Report = compiler_pb2.ScriptReport
Stages = compiler_pb2.ExamineScriptResponse
PRELOAD = ("svc_compiler.triton.script_record_child", "svc_compiler.triton.script_interpret_child")
# Time on the clock for each second of CPU time.
PATIENCE = 10.0
_RECORD = "svc_compiler.triton.script_record_child:main"
_INTERPRET = "svc_compiler.triton.script_interpret_child:main"
_MEMORY_BYTES = 6 << 30
_MOST_FINDINGS = 64
_MOST_NOTES = 16


def is_kept(report: compiler_pb2.ScriptReport) -> bool:
    """Whether a report depends on the script alone, and not on how busy the machine was."""
    steps = (report.compiled, report.interpreted, report.memory_clean)
    return not any(step.status in (Report.CRASHED, Report.STALLED) for step in steps)


@dataclasses.dataclass(frozen=True)
class ScriptExaminer:
    """See `Verifier`."""

    # Started with PRELOAD and `compile.PRELOAD`.
    sandbox: MeteredSandbox
    scratch: Path
    versions: Mapping[str, str]

    async def verify(self, work: ScriptWork, progress: Progress) -> compiler_pb2.ScriptReport:
        """Raises errors.Error where the platform fails."""
        report, started = Report(action_digest=work.digest), time.time()
        with tempfile.TemporaryDirectory(dir=self.scratch, prefix="script-") as name, metered() as meter:
            folder = Path(name)
            await asyncio.to_thread(_write_sources, work, folder / "sources")
            progress(Stages.RECORDING)
            with stage("record"):
                recorded = await self._run(work, folder, _RECORD)
            _report_recording(report, recorded)
            if recorded.groups:
                progress(Stages.COMPILING)
                with stage("gpu compile"):
                    await self._compile(work, folder, recorded, report)
            progress(Stages.INTERPRETING)
            with stage("interpret"):
                _report_interpretation(report, await self._run(work, folder, _INTERPRET))
        reporting.check_disk(self.scratch)
        self._finish(report, started, meter)
        return report

    async def _run(self, work: ScriptWork, folder: Path, entry: str) -> Reply:
        """One run of the script in a folder of its own."""
        place = Path(tempfile.mkdtemp(dir=folder))
        sources = folder / "sources"
        request = {
            "sources": str(sources),
            "main": work.action.main,
            "targets": list(work.action.targets),
            "budget_s": work.timeout_s,
        }
        job = Job(
            folder=place,
            entry=entry,
            payload=json.dumps(request).encode(),
            readable=(sources,),
            environment={"PYTHONDONTWRITEBYTECODE": "1", "TRITON_CACHE_DIR": str(place / "cache")},
            limits=Limits(
                wall_seconds=work.timeout_s * PATIENCE, cpu_seconds=work.timeout_s, memory_bytes=_MEMORY_BYTES
            ),
        )
        outcome = await self.sandbox.run(job)
        return await asyncio.to_thread(script_reply.read, place, sources, outcome, _ending(outcome, work.timeout_s))

    async def _compile(self, work: ScriptWork, folder: Path, recorded: Reply, report: Report) -> None:
        """Compiles for each target; the report's first step is theirs unless the script itself failed."""
        for target in work.action.targets:
            build = TritonBuild(compiler_pb2.TargetBuild(target=target, compiled=True))
            report.builds.append(build.build)
            started = time.monotonic()
            try:
                for groups in _rounds(recorded, build, work.action.max_configurations):
                    part = await compile_program(
                        self.sandbox,
                        folder,
                        _program_of(recorded, groups),
                        target,
                        work.timeout_s,
                        alternatives=_dispensable(recorded),
                        patience=PATIENCE,
                    )
                    _add(build, part)
            except Refused as refusal:
                stalled = time.monotonic() - started > work.timeout_s * PATIENCE - 1.0
                _fail(report.compiled, _status_of(refusal.verdict, stalled=stalled), refusal.explanation)
                report.builds[-1].CopyFrom(compiler_pb2.TargetBuild(target=target, diagnostics=refusal.diagnostics))
                continue
            _judge(report, recorded, build)
            report.builds[-1].CopyFrom(build.build)

    def _finish(self, report: Report, started: float, meter: dict[str, float]) -> None:
        metadata = report.execution_metadata
        metadata.worker = os.uname().nodename
        metadata.start_time.FromNanoseconds(int(started * 1e9))
        metadata.end_time.FromNanoseconds(time.time_ns())
        metadata.stages.extend(stage_times(meter))
        metadata.toolchain.update(self.versions)


def _write_sources(work: ScriptWork, folder: Path) -> None:
    for source in work.action.sources:
        path = folder / source.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(source.contents)


def _ending(outcome: Outcome, timeout_s: float) -> tuple[Report.Status, str] | None:
    """The status of a step whose process did not come to its own end."""
    if outcome.timed_out and outcome.cpu_seconds >= timeout_s * 0.9:
        return Report.TIMED_OUT, f"It used up its {timeout_s:g} s of CPU time."
    if outcome.timed_out:
        spent = f"having used {outcome.cpu_seconds:.1f} s of CPU time"
        return Report.STALLED, f"It was not over after {timeout_s * PATIENCE:g} s on the clock, {spent}."
    if outcome.out_of_memory:
        return Report.FAILED, f"It needs more than {_MEMORY_BYTES >> 30} GiB of memory."
    if outcome.too_many_processes or outcome.wrote_too_much:
        return Report.FAILED, f"It {outcome.describe()}."
    if outcome.signal is not None:
        return Report.CRASHED, f"Its process was {outcome.describe()}."
    return None


def _report_recording(report: Report, recorded: Reply) -> None:
    report.launch_count = recorded.launches
    report.notes.extend(recorded.notes)
    for own in recorded.own:
        note = f"`{own.kernel}` was compiled in the script's own process: {own.why}"
        if note not in report.notes and len(report.notes) < _MOST_NOTES:
            report.notes.append(note)
    step = report.compiled
    if recorded.status != Report.OK:
        launched = f" (after {recorded.launches} launches)" if recorded.launches else ""
        _fail(step, recorded.status, recorded.explanation + launched, recorded.location)
    elif not recorded.launches:
        _fail(step, Report.FAILED, "The script launches no kernel.")
    else:
        step.status = Report.OK


def _dispensable(recorded: Reply) -> set[str]:
    """The variants that may fail to compile: those that are never launched without alternatives."""
    needed = {index for group in recorded.groups if len(group) == 1 for index in group}
    return {variant.name for index, variant in enumerate(recorded.program.variants) if index not in needed}


def _rounds(recorded: Reply, build: TritonBuild, most: int) -> Iterator[list[list[int]]]:
    """What to compile, round by round: the first configurations of each launch; where none of them does, the next."""
    start = 0
    while any(len(group) > start for group in recorded.groups):
        groups = [
            [index for index in group[start : start + most] if index >= 0]
            for group in recorded.groups
            if all(_fault(recorded, index, build) for index in group[:start])
        ]
        if not any(groups):
            return
        yield groups
        start += most


def _program_of(recorded: Reply, groups: Iterable[Iterable[int]]) -> triton_pb2.TritonProgram:
    """The program with those variants only."""
    wanted = sorted({index for group in groups for index in group})
    variants = [recorded.program.variants[index] for index in wanted]
    return triton_pb2.TritonProgram(functions=recorded.program.functions, variants=variants)


def _add(build: TritonBuild, part: TritonBuild) -> None:
    known = set(build.images)
    build.images.update(part.images)
    build.build.kernels.extend(kernel for kernel in part.build.kernels if kernel.name not in known)
    build.build.diagnostics.extend(part.build.diagnostics)


def _judge(report: Report, recorded: Reply, build: TritonBuild) -> None:
    """Of each group one variant must have compiled."""
    target = build.build.target
    for own in recorded.own:
        if target not in own.faults:
            build.build.kernels.add(name=own.kernel, display_name=own.kernel)
    for group in recorded.groups:
        faults = [_fault(recorded, index, build) for index in group]
        if None in faults:
            continue
        build.build.compiled = False
        shown, message, location = next(fault for fault in faults if fault)
        some = f"None of the {len(group)} configurations of {shown} compiles" if len(group) > 1 else ""
        text = f"{some or f'{shown} does not compile'} for {target}: {message}"
        _fail(report.compiled, Report.FAILED, text, location)


def _fault(recorded: Reply, index: int, build: TritonBuild) -> tuple[str, str, str] | None:
    """Of a variant that did not compile: its name, why, and where."""
    if index < 0:
        own = recorded.own[-1 - index]
        fault = own.faults.get(build.build.target)
        return (own.kernel, *fault) if fault else None
    variant = recorded.program.variants[index]
    if variant.name in build.images:
        return None
    first = next(iter(build.build.diagnostics), compiler_pb2.Diagnostic(message="there was no time left for it"))
    location = f"{first.file}:{first.line}" if first.file else ""
    return programs.display_name(recorded.program, variant), first.message, location


def _status_of(verdict: Verdict, *, stalled: bool) -> Report.Status:
    if verdict == compiler_pb2.VerificationReport.TIMED_OUT:
        return Report.STALLED if stalled else Report.TIMED_OUT
    return Report.FAILED


def _report_interpretation(report: Report, interpreted: Reply) -> None:
    report.interpreted_launch_count = interpreted.launches
    report.notes.extend(note for note in interpreted.notes if note not in report.notes)
    report.findings.extend(interpreted.findings[:_MOST_FINDINGS])
    step, clean = report.interpreted, report.memory_clean
    if interpreted.status == Report.OK:
        step.status = Report.OK
    else:
        _fail(step, interpreted.status, interpreted.explanation, interpreted.location)
    if interpreted.findings:
        first = interpreted.findings[0]
        more = f" ({len(interpreted.findings)} findings in all)" if len(interpreted.findings) > 1 else ""
        _fail(clean, Report.FAILED, first.message + more, first.location)
    elif interpreted.status == Report.OK and interpreted.launches:
        clean.status = Report.OK
    elif not interpreted.launches:
        _fail(clean, Report.NOT_RUN, "No kernel was interpreted.")
    else:
        status = interpreted.status if interpreted.status != Report.FAILED else Report.NOT_RUN
        _fail(clean, status, f"Nothing was found in the {interpreted.launches} launches until then.")


def _fail(step: Report.Step, status: Report.Status, explanation: str, location: str = "") -> None:
    """Sets a step's status; the first failure stays."""
    if step.status in (Report.STATUS_UNSPECIFIED, Report.OK):
        step.status, step.explanation, step.location = status, explanation, location
