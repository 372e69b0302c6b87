"""`suite tritonbench-g`: many scripts through the compiler, a table and a record of what became of each."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from kernelvault import errors
from kernelvault.services import Client
from kernelvault.v1.artifact_pb2 import Artifact
from kernelvault.v1.compiler_pb2 import ScriptAction, ScriptReport
from orchestrator import candidates, tritonbench
from orchestrator.commands import cluster, output, reports
from orchestrator.commands.bars import Bars

STEPS = ("compiled", "interpreted", "memory_clean")
_COLOURS = {"OK": "green", "NEEDS_DEVICE": "yellow", "NOT_RUN": "dim"}
# A service that went away is waited for: `kernelvault up` in another terminal brings it back.
_PATIENCE_S = 3600.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ask:
    """What a user wants to know of which scripts."""

    only: str
    limit: int
    target: str
    jobs: int
    timeout_s: float
    fresh: bool
    json_file: Path | None


@dataclasses.dataclass
class Row:
    """A script and what became of it: a report, or why there is none."""

    script: str
    report: ScriptReport | None = None
    fault: str = ""


def run(ask: Ask, *, start: bool) -> int:
    """Prints the table and the totals; 0, or 2 where the platform failed on a script."""
    targets = candidates.targets(ask.target)
    candidates.check_timeout(ask.timeout_s)
    chosen = tritonbench.select(tritonbench.scripts(), only=ask.only, limit=ask.limit)
    cluster.require(("corpus", "compiler"), start=start)
    waiting, begun = output.Waiting(), time.monotonic()
    rows = output.finish(examine(chosen, ask, targets, waiting))
    record = summary(rows, ask, targets, seconds=time.monotonic() - begun)
    if ask.json_file:
        ask.json_file.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    console = reports.console()
    console.print(_table(rows))
    console.print(_totals(record))
    return 2 if any(row.fault for row in rows) else 0


async def examine(
    scripts: Sequence[Artifact],
    ask: Ask,
    targets: Sequence[str],
    waiting: output.Waiting,
    *,
    patience_s: float = _PATIENCE_S,
) -> list[Row]:
    """Examines `jobs` scripts at a time; what goes wrong with one ends no other."""
    rows, turns = [Row(script.path) for script in scripts], asyncio.Semaphore(ask.jobs)
    bars = Bars(tritonbench.NAME, len(scripts))

    async def one(client: Client, script: Artifact, row: Row) -> None:
        action = ScriptAction(sources=[script], targets=targets)
        action.timeout.FromMilliseconds(int(ask.timeout_s * 1000))
        async with turns:
            bars.begin(row.script)
            try:
                row.report = await client.examine_script(
                    action, skip_cache=ask.fresh, on_stage=lambda stage: bars.stage(row.script, stage.lower())
                )
            except errors.Error as error:
                row.fault = str(error)
            bars.finish(row.script, _said(row))

    async with Client(timeout_s=patience_s, on_wait=waiting) as client, asyncio.TaskGroup() as group:
        with bars:
            work = [group.create_task(one(client, *pair)) for pair in zip(scripts, rows, strict=True)]
            await asyncio.gather(*work)
    return rows


def summary(rows: Sequence[Row], ask: Ask, targets: Sequence[str], *, seconds: float) -> dict[str, Any]:
    """The record of a run. Nothing in it tells one machine from another of its kind."""
    made = [row.report for row in rows if row.report]
    return {
        "suite": tritonbench.NAME,
        "source": f"{tritonbench.PACKAGE} {tritonbench.VERSION} ({tritonbench.LICENSE})",
        "wheel_sha256": tritonbench.WHEEL_SHA256,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": f"{len(os.sched_getaffinity(0))} cores of x86-64, no GPU",
        "toolchain": dict(made[0].execution_metadata.toolchain) if made else {},
        "targets": list(targets),
        "cpu_seconds_for_each_step": ask.timeout_s,
        "totals": {
            "files": len(rows),
            **{step: sum(_status(report, step) == "OK" for report in made) for step in STEPS},
            "without_a_report": sum(bool(row.fault) for row in rows),
            "answered_from_the_cache": sum(report.cached for report in made),
            "seconds": round(seconds, 1),
        },
        "files": [_record(row) for row in rows],
    }


def _record(row: Row) -> dict[str, Any]:
    if row.report is None:
        return {"file": row.script, "fault": row.fault}
    report = row.report
    record: dict[str, Any] = {"file": row.script, **{step: _status(report, step) for step in STEPS}}
    why = {step: _why(getattr(report, step)) for step in STEPS if _status(report, step) != "OK"}
    if why:
        record["why"] = why
    record["launches"] = report.launch_count
    record["kernels"] = max((len(build.kernels) for build in report.builds), default=0)
    cpu_s = {one.stage: one.cpu_time.ToNanoseconds() / 1e9 for one in report.execution_metadata.stages}
    record["cpu_seconds"] = round(sum(cpu_s.values()), 1)
    if report.notes:
        record["notes"] = list(report.notes)
    return record


def _status(report: ScriptReport, step: str) -> str:
    name: str = ScriptReport.Status.Name(getattr(report, step).status)
    return name


def _why(step: ScriptReport.Step) -> str:
    return f"{step.location}: {step.explanation}" if step.location else step.explanation


def _table(rows: Sequence[Row]) -> Table:
    table = Table("script", *(step.replace("_", " ") for step in STEPS), "why not")
    for row in rows:
        if row.report is None:
            table.add_row(escape(row.script), "[red]no report[/]", "", "", escape(row.fault))
            continue
        states = [_status(row.report, step) for step in STEPS]
        cells = [f"[{_COLOURS.get(state, 'red')}]{state}[/]" for state in states]
        whys = (
            _first_line(_why(getattr(row.report, step)))
            for step, state in zip(STEPS, states, strict=True)
            if state not in ("OK", "NOT_RUN")
        )
        table.add_row(escape(row.script), *cells, escape("\n".join(dict.fromkeys(whys))))
    return table


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:240]


def _totals(record: Mapping[str, Any]) -> str:
    totals = record["totals"]
    count = totals["files"]
    parts = [f"{totals[step]} of {count} {step.replace('_', ' ')}" for step in STEPS]
    parts += [f"{totals['answered_from_the_cache']} answered from the cache", f"{totals['seconds']:.0f} s"]
    if totals["without_a_report"]:
        parts.append(f"{totals['without_a_report']} without a report: the service failed, run it again")
    return "; ".join(parts)


def _said(row: Row) -> str:
    """What became of a script, on a line."""
    return ", ".join(_status(row.report, step) for step in STEPS) if row.report else f"no report: {row.fault}"
