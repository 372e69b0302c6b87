"""`run`: the agent loop, with a bar for the whole and a line for each task at work."""

from __future__ import annotations

import dataclasses
import datetime
import re
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from kernelvault import devices
from kernelvault.services import Client
from kernelvault.v1.compiler_pb2 import VerificationReport
from kernelvault.v1.kernel_pb2 import Task
from orchestrator import candidates, suite, tasks
from orchestrator.commands import cluster, output, reports
from orchestrator.commands.bars import Bars
from orchestrator.journal import Journal
from orchestrator.loop import Loop, Outcome, key_of
from orchestrator.mistake import Mistake
from orchestrator.options import Options
from orchestrator.state import State

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
# Longer than any restart of a service takes; a call that waits for one goes on when it is back.
_PATIENCE_S = 3600.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Wanted:
    """Which tasks a user means."""

    paths: tuple[Path, ...]
    titles: str
    level: int

    def tasks(self) -> list[Task]:
        """The tasks without cases; raises Mistake if there are none."""
        paths = tasks.collect(self.paths) if self.paths else suite.tasks()
        return tasks.select([tasks.read(path) for path in paths], titles=self.titles, level=self.level)


def run(wanted: Wanted, options: Options, *, name: str, start: bool, as_json: bool) -> int:
    """Prints the table of outcomes; 0, 1 where a baseline does not pass, 2 where the platform failed."""
    candidates.kind(options.format)
    candidates.targets(",".join(options.targets))
    candidates.check_timeout(options.timeout_s)
    devices.of(options.device)
    name = name or datetime.datetime.now().strftime("run-%Y%m%d-%H%M%S")
    if not _NAME.fullmatch(name):
        raise Mistake(f"{name!r} cannot name a run: use letters, digits, `.`, `_` and `-`")
    chosen = wanted.tasks()
    if options.seed and options.baseline:
        raise Mistake("a kernel is ported or made faster: leave out --seed-kernel or --optimize")
    what = "a seed kernel" if options.seed else "a kernel to make faster" if options.baseline else ""
    if what and len(chosen) > 1:
        raise Mistake(f"{what} is of one task, and {len(chosen)} are chosen: name its task, or use --tasks")
    cluster.require(("corpus", "compiler", "generator", "profiler"), start=start)
    output.finish(_check_model(options))
    state = State.open()
    journal = Journal(state.path("runs", f"{name}.jsonl"))
    with journal.exclusive():
        resumed = journal.open(options.decisive(), {key_of(task) for task in chosen})
        view = _View(f"{'going on with' if resumed else 'run'} {name}", len(chosen))
        try:
            outcomes = output.finish(_work(view, journal, options, name=name, chosen=chosen, cache=state.path("blobs")))
        except KeyboardInterrupt:
            Console(stderr=True).print(f"stopped; the same command with --run {name} goes on", highlight=False)
            raise
    _show(outcomes, name, as_json=as_json)
    if any(outcome.failed for outcome in outcomes):
        return 2
    wrong = (outcome.baseline for outcome in outcomes if outcome.baseline)
    return 1 if any(baseline.report.verdict != VerificationReport.PASSED for baseline in wrong) else 0


async def _check_model(options: Options) -> None:
    """Raises Mistake where nobody of that name writes such candidates: every task would fail for it."""
    async with Client(on_wait=output.Waiting()) as client:
        known = {model.name.removeprefix("models/"): model.backend for model in await client.models()}
    wanted = options.model_name.removeprefix("models/")
    if wanted not in known:
        raise Mistake(f"unknown model {wanted!r}: known are {', '.join(known)}; docs/usage.md says how to add one")
    if options.seed and known[wanted] == "rules":
        raise Mistake(f"{wanted} ports no seed kernel: name a language model with --model; docs/usage.md says how")
    if options.baseline and options.baseline.kernel and known[wanted] == "rules":
        raise Mistake(
            f"{wanted} writes whole sources: leave out --kernel, or name a language model with --model; "
            "docs/usage.md says how"
        )


async def _work(
    view: _View, journal: Journal, options: Options, *, name: str, chosen: Sequence[Task], cache: Path
) -> list[Outcome]:
    async with Client(timeout_s=_PATIENCE_S, on_wait=output.Waiting()) as client:
        with view:
            loop = Loop(client, journal, options, run=name, cache=cache, watcher=view)
            return await loop.work(chosen)


def _show(outcomes: Sequence[Outcome], name: str, *, as_json: bool) -> None:
    passed = sum(
        1 for outcome in outcomes if (best := outcome.best()) and best.report.verdict == VerificationReport.PASSED
    )
    if as_json:
        output.print_json({"run": name, "passed": passed, "tasks": [_row(outcome) for outcome in outcomes]})
        return
    console = reports.console()
    console.print(reports.outcomes(outcomes))
    console.print(f"{passed} of {len(outcomes)} tasks PASSED in run {name}; look at them with `kernelvault corpus`")


def _row(outcome: Outcome) -> dict[str, object]:
    best = outcome.best()
    return {
        "task": outcome.task.name or outcome.task.title,
        "verdict": reports.verdict_name(best.report) if best else "",
        "attempts": len(outcome.samples),
        "time_ns": best.profile.time_ns if best else 0,
        "sample": best.name if best else "",
        "samples": [sample.name for sample in outcome.samples],
        "baseline": outcome.baseline.name if outcome.baseline else "",
        "speedup": outcome.speedup() or 0,
        "reflections": {name: one.text for name, one in outcome.reflections.items() if one.text},
        "note": outcome.note or (best.report.explanation if best else ""),
        "failed": outcome.failed,
    }


class _View(Bars):
    """The bars on the terminal; a Watcher of the loop."""

    def ended(self, outcome: Outcome) -> None:
        """Says a task's verdict."""
        best = outcome.best()
        verdict = reports.verdict_name(best.report) if best else reports.explanation_of(outcome)
        self.finish(outcome.task.title, verdict)
