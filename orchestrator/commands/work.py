"""`verify`, `profile`, `standardize` and `models`."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

from rich.console import Console

from kernelvault import devices, errors
from kernelvault.services import Client
from kernelvault.v1.compiler_pb2 import VerificationReport
from kernelvault.v1.generator_pb2 import GenerateFunctionalRequest
from kernelvault.v1.kernel_pb2 import Task
from kernelvault.v1.profiler_pb2 import Profile
from orchestrator import candidates, tasks
from orchestrator.commands import cluster, output, reports
from orchestrator.mistake import Mistake

_REWRITES = 5
_progress = Console(stderr=True)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ask:
    """What a user wants to know about which candidate."""

    candidate: Path
    format: str | None
    entry_point: str
    target: str
    timeout_s: float


def verify(task: str, ask: Ask, *, fresh: bool, start: bool, as_json: bool) -> int:
    """Prints the report; 0 if the candidate passed, else 1."""
    report, _ = _judge(task, ask, device="", fresh=fresh, start=start)
    if as_json:
        output.print_json(output.as_dict(report))
    else:
        reports.console().print(reports.report(report))
    return _exit_code(report)


def profile(task: str, ask: Ask, *, device: str, start: bool, as_json: bool) -> int:
    """Prints the report, and the profile if the candidate passed; 0 if it did, else 1."""
    report, estimate = _judge(task, ask, device=device, fresh=False, start=start)
    if as_json:
        both = {"report": output.as_dict(report)} | ({"profile": output.as_dict(estimate)} if estimate else {})
        output.print_json(both)
    else:
        reports.console().print(reports.report(report))
        if estimate:
            reports.console().print(reports.profile(estimate))
    return _exit_code(report)


def standardize(task: str, *, output_path: Path | None, model: str, start: bool) -> None:
    """Prints or writes the functional form; raises Mistake if a model did not find one."""
    given = tasks.read(tasks.find(task))
    cluster.require(("compiler", "generator") if model else ("compiler",), start=start)
    source = output.finish(_standardize(given, model))
    if output_path:
        output_path.write_bytes(source)
        _progress.print(f"wrote {output_path}")
    else:
        sys.stdout.buffer.write(source)


def models() -> None:
    """Prints who can write candidates."""
    cluster.require(("generator",), start=False)

    async def ask() -> None:
        async with Client(on_wait=output.Waiting()) as client:
            for model in await client.models():
                print(model.name.removeprefix("models/"), model.backend, sep="\t")

    output.finish(ask())


def _judge(task: str, ask: Ask, *, device: str, fresh: bool, start: bool) -> tuple[VerificationReport, Profile | None]:
    """The report without plans, and with a `device` the profile."""
    candidate = candidates.read(ask.candidate, format_=ask.format, entry_point=ask.entry_point)
    targets = candidates.targets(ask.target)
    candidates.check_timeout(ask.timeout_s)
    if device:
        devices.of(device)
    given = None if task.startswith("tasks/") else tasks.read(tasks.find(task))
    cluster.require(("compiler", "corpus", "profiler") if device else ("compiler", "corpus"), start=start)

    async def judge() -> tuple[VerificationReport, Profile | None]:
        with _progress.status("preparing the task") as line:
            async with Client(on_wait=output.Waiting()) as client:
                name = (await _stored(client, given)).name if given else task
                action = candidates.action(candidate, name, targets=targets, timeout_s=ask.timeout_s)
                say = _Say(line)
                report = await client.verify(action, skip_cache=fresh, on_stage=say)
                if report.fault_owner == VerificationReport.PLATFORM:
                    raise errors.Internal("PLATFORM_FAULT", f"failed to verify: {report.explanation}")
                passed = report.verdict == VerificationReport.PASSED
                wanted = device and passed and not reports.why_not_timed(report)
                estimate = await client.profile(report.action_digest, device=device, on_stage=say) if wanted else None
        report.ClearField("plans")
        return report, estimate

    return output.finish(judge())


async def _stored(client: Client, task: Task) -> Task:
    return await client.create_task((await client.prepare_task(task)).task)


class _Say:
    """Shows the stage that a call is in."""

    def __init__(self, line: object) -> None:
        self._line = line

    def __call__(self, stage: str) -> None:
        self._line.update(stage.lower())  # type: ignore[attr-defined]


def _exit_code(report: VerificationReport) -> int:
    return 0 if report.verdict == VerificationReport.PASSED else 1


async def _standardize(task: Task, model: str) -> bytes:
    """Mechanically, or by a model whose forms are checked until one is right."""
    async with Client(on_wait=output.Waiting()) as client:
        prepared = (await client.prepare_task(task)).task
        try:
            return (await client.standardize_task(prepared)).contents
        except errors.FailedPrecondition as error:
            if error.reason != "NOT_TRACEABLE" or not model:
                raise
            feedback = str(error)
        for _ in range(_REWRITES):
            request = GenerateFunctionalRequest(task=prepared, model=f"models/{model}", feedback=feedback)
            prepared.functional.CopyFrom(await client.generate_functional(request))
            try:
                return (await client.standardize_task(prepared)).contents
            except (errors.FailedPrecondition, errors.InvalidArgument) as error:
                feedback = str(error)
        raise Mistake(
            f"failed to standardise {task.title}: {model} found no equal form in {_REWRITES} tries: {feedback}"
        )
